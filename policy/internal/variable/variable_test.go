package variable

import "testing"

func Test_Judge_Names_The_Reason(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, value string
		docker      bool
		want        string
	}{
		{"LANG", "C.UTF-8", false, ""},
		{"API_KEY", "x", false, SecretName},
		{"API_KEY", "", false, ""},
		{"API_KEY", "false", false, ""},
		{"AWS_REGION", "eu-west-1", false, ""},
		{"AWS_PROFILE", "x", false, SecretName},
		{"REMOTE", "https://user:pass@example.com", false, SecretValue},
		{"https_proxy", "user:pass@proxy:3128", false, SecretValue},
		{"X", "ghp_0123456789", false, SecretValue},
		{"LD_PRELOAD", "x", false, Loader},
		{"ENV", "production", false, ""},
		{"ENV", "$HOME/x", false, Loader},
		{"DISPLAY", ":0", false, Service},
		{"DOCKER_HOST", "unix:///x", false, Service},
		{"DOCKER_HOST", "unix:///x", true, ""},
	} {
		if got := Judge(row.name, row.value, row.docker); got != row.want {
			t.Errorf("%s=%s: got %q, want %q", row.name, row.value, got, row.want)
		}
	}
}

func Test_Names_And_Patterns(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"A": true, "ProgramFiles(x86)": true, "BASH_FUNC_f%%": true, "": false, "A=B": false, "A*": false, "A\n": false} {
		if IsName(name) != want {
			t.Errorf("IsName(%q) is %v", name, !want)
		}
	}
	for _, row := range []struct {
		pattern, name string
		want          bool
	}{{"A", "A", true}, {"A", "AB", false}, {"A*", "AB", true}, {"A*", "A", true}, {"*", "", true}, {"A*", "B", false}} {
		if Match(row.pattern, row.name) != row.want {
			t.Errorf("Match(%q, %q) is %v", row.pattern, row.name, !row.want)
		}
	}
	if !IsLoader("LD_AUDIT") || IsLoader("EDITOR") {
		t.Error("IsLoader confuses LD_AUDIT and EDITOR")
	}
}
