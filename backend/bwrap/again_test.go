//go:build linux

package bwrap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// disturbing returns a bubblewrap that mounts and unmounts on the host and then fails, as often as the file has lines;
// with changes false it only fails.
func disturbing(t *testing.T, changes bool) (program, file string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root changes the host's mounts")
	}
	real := require.Command(t, "bwrap", "bwrap")
	dir := t.TempDir()
	program, file = filepath.Join(dir, "bwrap"), filepath.Join(dir, "failures")
	neighbour := ":"
	if changes {
		neighbour = fmt.Sprintf("mount -t tmpfs none %[1]s && umount %[1]s", filepath.Join(dir, "mnt"))
	}
	script := fmt.Sprintf("#!/bin/sh\nif [ -s %[1]s ]; then\n\tsed -i 1d %[1]s\n\t%[2]s\n\techo 'bwrap: set-up failed' >&2\n\texit 1\nfi\nexec %[3]s \"$@\"\n", file, neighbour, real)
	if err := os.Mkdir(filepath.Join(dir, "mnt"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, file
}

func Test_Bubblewrap_Is_Started_Again_When_A_Mount_Of_The_Host_Changed(t *testing.T) {
	for what, row := range map[string]struct {
		failures int
		changes  bool
		resident bool
		runs     int // how often the command ran
	}{
		"once":                                 {1, true, false, 1},
		"three times":                          {3, true, false, 1},
		"always":                               {100, true, false, 0},
		"for another reason":                   {1, false, false, 0},
		"of a sandbox that stays":              {2, true, true, 1},
		"of one that stays, and always":        {100, true, true, 0},
		"of one that stays, and other reasons": {1, false, true, 0},
	} {
		t.Run(what, func(t *testing.T) {
			program, file := disturbing(t, row.changes)
			dir := t.TempDir()
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
