package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// What a copy of the workspace leaves out is explained as absent, with the flag that has it copied.
func Test_A_Path_Is_Explained_As_A_Copy_Has_It(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".env", "named.env", "sub/prod.env", ".env.example", "main.go", "hidden/f", "venv/.env/x", ".git/hooks/pre-commit"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	spec := sandbox.Spec{Workspace: dir, Env: []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}}
	spec.Policy.Filesystem.RW = []string{filepath.Join(dir, "named.env")}
	spec.Policy.Filesystem.Exclude = []string{filepath.Join(dir, "hidden")}
	p := mustResolve(t, spec)
	for _, c := range []struct{ path, verdict, change string }{
		{".env", "absent", "--rw .env"},
		{"sub/prod.env", "absent", "--rw sub/prod.env"},
		{"later.env", "absent", "--rw later.env"},
		{"named.env", "rw", "--exclude " + filepath.Join(dir, "named.env")},
		{".env.example", "rw", "--exclude " + filepath.Join(dir, ".env.example")},
		{"venv/.env", "rw", "--exclude " + filepath.Join(dir, "venv/.env")},
		{"main.go", "rw", "--exclude " + filepath.Join(dir, "main.go")},
		{".git/hooks/pre-commit", "rw", ""},
		{".husky", "rw", ""},
		{"hidden/f", "exclude", "--rw " + filepath.Join(dir, "hidden/f")},
		{"/usr/bin", "absent", ""},
		{"~/.ssh/id_ed25519", "absent", ""},
		{"/proc/self", "private", ""},
	} {
		if e := p.ExplainCopiedPath(c.path); e.Verdict != c.verdict || e.Change != c.change || e.Reason == "" {
			t.Errorf("%s: %+v", c.path, e)
		}
	}
	if e := p.ExplainPath(".env"); e.Verdict != "rw" {
		t.Errorf("the control, without a copy: %+v", e)
	}
}
