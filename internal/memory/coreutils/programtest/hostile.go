package programtest

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// HostileTree has an archive in /w/in, where it is taken out, and a file beside that must not change.
func HostileTree(t *testing.T, archive []byte, limits vfs.Limits) *vfs.FS {
	t.Helper()
	f := vfs.New(vfs.Options{Limits: limits})
	for _, dir := range []string{"/w", "/w/in", "/etc"} {
		if err := f.Mkdir(vfs.Cred{}, dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	WriteVirtual(t, f, "/etc/passwd", []byte("root:x:0:0:root:/root:/bin/sh\n"))
	WriteVirtual(t, f, "/w/outside", []byte("untouched"))
	WriteVirtual(t, f, "/a", archive)
	return f
}

// RunHostile runs a command line of plain words in /w/in of the tree, with little fuel.
func RunHostile(t *testing.T, f *vfs.FS, line string) Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var out, msg bytes.Buffer
	p := shell.NewProc(ctx, shell.ProcOptions{
		FS: f, Args: strings.Fields(line), Env: RealEnv(nil), Dir: "/w/in", Umask: 0o022, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &msg,
		Commands: coreutils.Commands(), Limits: shell.Limits{Fuel: 50_000_000},
	})
	status := p.Run(shell.Spawn{Args: strings.Fields(line)}) // It waits, so that the output is complete.
	return Outcome{Status: status, Stdout: out.String(), Stderr: msg.String()}
}

// CheckOutside makes sure that nothing was written beside /w/in.
func CheckOutside(t *testing.T, f *vfs.FS) {
	t.Helper()
	if got := string(ReadVirtual(t, f, "/w/outside")); got != "untouched" {
		t.Errorf("/w/outside holds %q", got)
	}
	if got := string(ReadVirtual(t, f, "/etc/passwd")); !strings.HasPrefix(got, "root:x:0:0") {
		t.Errorf("/etc/passwd holds %q", got)
	}
	for dir, want := range map[string]int{"/w": 2, "/etc": 1} {
		entries, err := f.ReadDir(vfs.Cred{}, dir)
		if err != nil || len(entries) != want {
			t.Errorf("%s has %v, %v", dir, entries, err)
		}
	}
}
