//go:build linux

package bwrap_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// Shell commands that disturb the start of a sandbox.
const (
	mounts   = "mount -t tmpfs none %[1]s/mnt && umount %[1]s/mnt"
	replaces = "echo '{}' >%[2]s/new && mv %[2]s/new %[2]s/.mcp.json"
)

// disturbing returns a bubblewrap that runs neighbour, a shell command, and then fails, once for each line of the file.
func disturbing(t *testing.T, workspace, neighbour string) (program, file string) {
	t.Helper()
	if neighbour != replaces && os.Getuid() != 0 {
		t.Skip("only root changes the host's mounts, and has mounts that nothing else changes")
	}
	real := require.Command(t, "bwrap", "bwrap")
	dir := t.TempDir()
	program, file = filepath.Join(dir, "bwrap"), filepath.Join(dir, "failures")
	neighbour = fmt.Sprintf(neighbour+" #%[1]s%[2]s", dir, workspace)
	script := fmt.Sprintf("#!/bin/sh\nif [ -s %[1]s ]; then\n\tsed -i 1d %[1]s\n\t%[2]s\n\techo 'bwrap: set-up failed' >&2\n\texit 1\nfi\nexec %[3]s \"$@\"\n", file, neighbour, real)
	if err := os.Mkdir(filepath.Join(dir, "mnt"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, file
}

// inOwnMounts runs the test in a mount namespace of its own, because other tests mount, too, and reports whether this process is
// in it. Only root can.
func inOwnMounts(t *testing.T) bool {
	t.Helper()
	const mark = "AGENT_SANDBOX_TEST_OWN_MOUNTS"
	if os.Getuid() != 0 || os.Getenv(mark) != "" {
		return true
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run", "^"+t.Name()+"$")
	c.Env = append(os.Environ(), mark+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func Test_Bubblewrap_Is_Started_Again_When_The_Host_Changed(t *testing.T) {
	if !inOwnMounts(t) {
		return
	}
	for what, row := range map[string]struct {
		failures  int
		neighbour string
		resident  bool
		runs      int // how often the command ran
	}{
		"once":                                 {1, mounts, false, 1},
		"three times":                          {3, mounts, false, 1},
		"always":                               {100, mounts, false, 0},
		"for another reason":                   {1, ":", false, 0},
		"of a sandbox that stays":              {2, mounts, true, 1},
		"of one that stays, and always":        {100, mounts, true, 0},
		"of one that stays, and other reasons": {1, ":", true, 0},
		"a file":                               {1, replaces, false, 1},
		"a file, always":                       {100, replaces, false, 0},
		"a file of one that stays":             {1, replaces, true, 1},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte("{}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			program, file := disturbing(t, dir, row.neighbour)
			box, err := sandbox.Create(t.Context(), bwrap.New(bwrap.Options{Bwrap: program, DataDir: t.TempDir()}), sandbox.Spec{
				Workspace: dir, Home: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, Resident: row.resident,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer box.Close(t.Context())
			if err := os.WriteFile(file, []byte(strings.Repeat("x\n", row.failures)), 0o600); err != nil {
				t.Fatal(err)
			}
			res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "echo ran >>ran"}})
			ran, _ := os.ReadFile(filepath.Join(dir, "ran"))
			if got := strings.Count(string(ran), "ran"); got != row.runs || (err == nil) != (row.runs == 1) {
				t.Errorf("it ran %d times, want %d: %+v, %v", got, row.runs, res, err)
			}
			if err != nil && sandbox.CodeOf(err) != sandbox.Unavailable {
				t.Errorf("%v", err)
			}
		})
	}
}
