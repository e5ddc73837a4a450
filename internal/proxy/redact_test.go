package proxy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/policy/redact"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// openRedacted opens a gateway for one .npmrc.
func openRedacted(t *testing.T, text string, env []string, o Options, hosts ...string) *Gateway {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, filepath.Join(dir, "npmrc"), text)
	plan := &policy.Plan{
		Network: sandbox.Network{Mode: sandbox.NetworkAllow, Allow: []string{"npm.example.com"}, CA: policy.EphemeralCA}, Env: env,
		Redacted: []policy.Redacted{{Path: path, Name: "~/.npmrc", Format: redact.Npm, Hosts: hosts}},
	}
	o.Bundle, o.HostEnv = "/bundle.pem", env
	g, err := Open(t.Context(), plan, o)
	if err != nil {
		t.Fatal(err)
	}
	g.Files = slices.DeleteFunc(g.Files, func(f File) bool { return strings.HasPrefix(f.Path, "/bundle") })
	return g
}

func Test_A_Redacted_File_Has_Placeholders_For_The_Hosts_That_Are_Allowed(t *testing.T) {
	t.Parallel()
	text := "//npm.example.com/:_authToken=" + value + "\n//other.example.com/:_authToken=" + value + "-2\n"
	g := openRedacted(t, text, []string{"COPY=x" + value, "PLAIN=1"}, Options{Redacts: true}, "https://npm.example.com")
	if len(g.Files) != 1 || g.Files[0].Mode != 0o444 {
		t.Fatalf("got %+v", g.Files)
	}
	lines := strings.Split(string(g.Files[0].Data), "\n")
	if token := strings.TrimPrefix(lines[0], "//npm.example.com/:_authToken="); len(token) < 24 || strings.Contains(token, value) {
		t.Errorf("got %q", lines[0])
	}
	if lines[1] != "//other.example.com/:_authToken=" {
		t.Errorf("got %q for a host that is not allowed", lines[1])
	}
	if len(g.Dropped) != 1 || g.Dropped[0].Name != "COPY" {
		t.Errorf("left out of the environment: %+v", g.Dropped)
	}
}

func Test_A_Redacted_File_Stays_Hidden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		redacts    bool
	}{
		{"when the host's files are not at their paths", "//npm.example.com/:_authToken=" + value, false},
		{"when it has changed since the plan, to something that is not understood", "//npm.example.com/:_authToken=\"" + value, true},
		{"when it has the credential in Base64, too", "//npm.example.com/:_authToken=" + value + "\nscope=" + "dGhlLXJlYWwtdmFsdWUtMQ==", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if g := openRedacted(t, c.text, nil, Options{Redacts: c.redacts}, "https://npm.example.com"); len(g.Files) != 0 {
				t.Errorf("it is shown as %q", g.Files[0].Data)
			}
		})
	}
}

func Test_A_Redacted_File_That_Was_Removed_Is_Not_Shown(t *testing.T) {
	t.Parallel()
	plan := &policy.Plan{Redacted: []policy.Redacted{{Path: filepath.Join(t.TempDir(), "gone"), Format: redact.Npm}}}
	if g, err := Open(t.Context(), plan, Options{Redacts: true}); err != nil || len(g.Files) != 0 {
		t.Errorf("got %+v, %v", g, err)
	}
	if _, err := os.Stat(plan.Redacted[0].Path); err == nil {
		t.Error("the file was made")
	}
}
