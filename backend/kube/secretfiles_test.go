package kube_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// secretTree writes files that have the names of secret files, and others that resemble them, and returns the workspace.
func secretTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{
		".env", ".env.local", "sub/.ENV.production", "sub/prod.env", ".envrc", ".netrc", "keys/id_ed25519", "named.env", "globbed.env",
		".env.example", "sample.env", "environment", "keys/id_ed25519.pub", "venv/.env/bin/x",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("named.env", filepath.Join(dir, "link.env")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func Test_Secret_Files_Are_Copied_Only_If_The_User_Names_Them(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	dir := secretTree(t)
	at := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(dir, name))
		}
		return paths
	}
	var notices []string
	b.options.Notice = func(line string) { notices = append(notices, line) }
	b.driver = kube.New(b.options)
	spec := sandbox.Spec{
		Workspace: dir,
		Policy:    sandbox.Policy{Filesystem: sandbox.Filesystem{RW: append(at("named.env", "glob*.env", ".envrc"), dir)}},
		// The user has not trusted the project's file.
		Layers: []sandbox.Layer{{Name: "project", File: filepath.Join(dir, ".agent-sandbox.json"), Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{RW: at(".env")}}}},
	}
	const list = `find . ! -type d | sort`
	want := "./.env.example\n./.envrc\n./environment\n./keys/id_ed25519.pub\n./link.env\n./named.env\n./sample.env\n./venv/.env/bin/x\n"
	if res := b.run(t, spec, "sh", "-c", list); string(res.Stdout) != want {
		t.Errorf("the pod has\n%swant\n%s%s", res.Stdout, want, res.Stderr)
	}
	plan, err := policy.Resolve(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".env", ".env.local", "sub/.ENV.production", ".envrc", "keys/id_ed25519", "keys/id_ed25519.pub", "named.env", "globbed.env", "environment"} {
		e := plan.ExplainCopiedPath(filepath.Join(dir, name))
		if has := strings.Contains(want, "./"+name+"\n"); has != (e.Verdict == "rw") || !has && e.Verdict != policy.VerdictAbsent {
			t.Errorf("%s is in the pod: %v, and is explained as %+v", name, has, e)
		}
	}
	if len(notices) != 1 {
		t.Fatalf("%d notices: %q", len(notices), notices)
	}
	for _, name := range []string{".env", ".env.local", "globbed.env", "--rw"} {
		if !strings.Contains(notices[0], name) {
			t.Errorf("%q does not have %s", notices[0], name)
		}
	}
	if strings.Contains(notices[0], "\n") {
		t.Errorf("%q has more than one line", notices[0])
	}
}
