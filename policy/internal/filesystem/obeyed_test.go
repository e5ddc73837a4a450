package filesystem

import "testing"

func Test_Obeyed_Names_Are_Those_That_A_Policy_Protects(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		".envrc": true, "a/b/.ENVRC": true, "/home/u/x/.vscode/tasks.json": true, ".git/config": true, "sub/.Git/hooks/pre-commit": true,
		".git": true, "./.git/info/attributes": true, ".git/modules/a/config": true, ".github/workflows/ci.yml": true, ".bashrc": true,
		"x/../.mcp.json": true, ".git/objects/info/alternates": true,
		"": false, ".": false, "src/main.go": false, ".github/CODEOWNERS": false, ".git/HEAD": false, ".git/objects/ab/cd": false, "config": false,
		"hooks/pre-commit": false, ".envrc.example": false, ".gitignore": false,
	} {
		if got := IsObeyed(path); got != want {
			t.Errorf("%q: %v, want %v", path, got, want)
		}
	}
}
