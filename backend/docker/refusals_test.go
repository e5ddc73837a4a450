//go:build linux

package docker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/docker"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

func Test_Each_Command_Of_A_Container_Has_Refusals_Of_Its_Own(t *testing.T) {
	denials := make(chan sandbox.Denial, 1000)
	d := docker.New(docker.Options{
		Env: os.Environ(), DataDir: filepath.Join(t.TempDir(), "data"), Image: testImage, Denied: func(one sandbox.Denial) { denials <- one },
	})
	available(t, d)
	work := t.TempDir()
	box, err := sandbox.Create(t.Context(), d, sandbox.Spec{Workspace: work, Env: os.Environ(), Container: sandbox.Container{Image: testImage}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = box.Close(t.Context()) }()
	for _, script := range []string{
		"for i in $(seq 250); do mkdir $i; mkdir $i/.vscode; done 2>/dev/null; mkdir .vscode",
		"mkdir .mcp.json; mkdir .vscode",
		"mkdir .vscode",
	} {
		if _, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", script}}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(script, "seq") {
			continue // it has more refusals than a list of denials
		}
		for name := range strings.SplitSeq(script, "; ") {
			awaitDenial(t, denials, filepath.Join(work, strings.TrimPrefix(name, "mkdir ")))
		}
	}
}

// awaitDenial reads denials until one is for path.
func awaitDenial(t *testing.T, denials <-chan sandbox.Denial, path string) {
	t.Helper()
	limit := time.NewTimer(deadline.Scale(10 * time.Second))
	defer limit.Stop()
	for {
		select {
		case d := <-denials:
			if d.Target == path {
				return
			}
		case <-limit.C:
			t.Fatalf("the refusal of %s is not reported", path)
		}
	}
}

// The guard runs inside. The host's inspection does not depend on it.
func Test_The_Host_Reports_A_Protected_Name_That_Appears(t *testing.T) {
	denials := make(chan sandbox.Denial, 1000)
	d := docker.New(docker.Options{
		Env: os.Environ(), DataDir: filepath.Join(t.TempDir(), "data"), Image: testImage, Denied: func(one sandbox.Denial) { denials <- one },
	})
	available(t, d)
	work := t.TempDir()
	write(t, filepath.Join(work, "elsewhere", "ci.yml"), "")
	box, err := sandbox.Create(t.Context(), d, sandbox.Spec{Workspace: work, Env: os.Environ(), Container: sandbox.Container{Image: testImage}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = box.Close(t.Context()) }()
	run := func() {
		t.Helper()
		if _, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"true"}}); err != nil {
			t.Fatal(err)
		}
	}
	run()
	write(t, filepath.Join(work, ".mcp.json"), "{}")
	run()
	awaitDenial(t, denials, filepath.Join(work, ".mcp.json"))
	if err := os.Symlink("elsewhere", filepath.Join(work, ".github")); err != nil {
		t.Fatal(err)
	}
	if err := box.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitDenial(t, denials, filepath.Join(work, ".github"))
	if len(denials) != 0 {
		t.Errorf("more is reported: %+v", <-denials)
	}
}
