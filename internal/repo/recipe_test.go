package repo

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// judge reports whether the steps of a repository's Dockerfile may run.
func judge(t *testing.T, r Repo, trust *policy.Trust) error {
	t.Helper()
	c, err := r.Recipe()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.checkTrust(trust)
}

func put(t *testing.T, name, text string, perm os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(name, []byte(text), 0o600), os.Chmod(name, perm)); err != nil {
		t.Fatal(err)
	}
}

func Test_A_Dockerfile_Runs_Only_When_The_User_Trusts_It(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r, trust := Repo{Path: dir}, &policy.Trust{Dir: filepath.Join(t.TempDir(), "trust")}
	own := filepath.Join(dir, configDir)
	agree := func() {
		t.Helper()
		c, err := r.Recipe()
		if err == nil {
			err = errors.Join(trust.Add(c.File, c.Content()), c.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Init(DefaultConfig(), false); err != nil {
		t.Fatal(err)
	}
	if err := judge(t, r, trust); err != nil {
		t.Errorf("what init writes: %v", err)
	}
	put(t, own+"/Dockerfile", "FROM x\nCOPY . /x\nRUN /x/set-up\n", 0o644)
	put(t, own+"/sub/set-up", "#!/bin/sh\n", 0o755)
	for _, row := range []struct {
		name    string
		change  func()
		refused bool
	}{
		{"another's Dockerfile", func() {}, true},
		{"one that is trusted", agree, false},
		{"its configuration changed", func() { put(t, own+"/config.json", "{}", 0o644) }, false},
		{"a file beside it changed", func() { put(t, own+"/sub/set-up", "#!/bin/sh\nevil\n", 0o755) }, true},
		{"trusted again", agree, false},
		{"a file beside it can be run", func() { put(t, own+"/sub/set-up", "#!/bin/sh\nevil\n", 0o777) }, true},
		{"a file was added", func() { agree(); put(t, own+"/more", "", 0o644) }, true},
		{"a link was added", func() { agree(); _ = os.Symlink("more", own+"/link") }, true},
		{"a link leads elsewhere", func() { agree(); _ = os.Remove(own + "/link"); _ = os.Symlink("sub", own+"/link") }, true},
		{"a step was added", func() { agree(); put(t, own+"/Dockerfile", "FROM x\nRUN evil\n", 0o644) }, true},
	} {
		row.change()
		err := judge(t, r, trust)
		if (err != nil) != row.refused || err != nil && (sandbox.CodeOf(err) != sandbox.Denied || !strings.Contains(sandbox.HintOf(err), "agent-sandbox trust "+dir)) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	put(t, own+"/Dockerfile", "FROM x\n\x00100644 y\n", 0o644)
	if _, err := r.Recipe(); sandbox.CodeOf(err) != sandbox.Invalid {
		t.Errorf("a NUL byte, which ends a Dockerfile's text: %v", err)
	}
}

func Test_A_Recipe_Names_All_That_Its_Steps_Can_Run(t *testing.T) {
	t.Parallel()
	r := Repo{Path: t.TempDir()}
	own := filepath.Join(r.Path, configDir)
	put(t, own+"/Dockerfile", "FROM x\n", 0o644)
	put(t, own+"/config.json", "{}", 0o644)
	put(t, own+"/sub/config.json", "{}", 0o644)
	put(t, own+"/new\nline", "", 0o755)
	c, err := r.Recipe()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	want := []string{`755 ` + empty + ` "new\nline"`, `644 44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a "sub/config.json"`}
	if string(c.Dockerfile) != "FROM x\n" || !slices.Equal(c.Others, want) {
		t.Errorf("%q beside %q", c.Others, c.Dockerfile)
	}
}
