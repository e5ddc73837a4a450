//go:build linux

package bwrap

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// onTerminal reports whether one of the streams is our controlling terminal. The
// command then stays in our session, so that the shell's job control works as
// without a sandbox; TIOCSTI and TIOCLINUX, by which it could type into that
// terminal, are refused by seccomp (CVE-2017-5226).
func onTerminal(stdio sandbox.Stdio) bool {
	for _, s := range []any{stdio.Stdin, stdio.Stdout, stdio.Stderr} {
		f, ok := s.(*os.File)
		if !ok || f == nil {
			continue
		}
		// Only the controlling terminal tells its foreground process group.
		if _, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP); err == nil {
			return true
		}
	}
	return false
}
