//go:build linux

package bwrap

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// isOnTerminal reports whether one of the streams is this process's controlling terminal. The
// command then stays in this session, so that the shell's job control works as without a
// sandbox; seccomp denies TIOCSTI and TIOCLINUX, with which it could insert input into that
// terminal (CVE-2017-5226).
func isOnTerminal(stdio sandbox.Stdio) bool {
	for _, s := range []any{stdio.Stdin, stdio.Stdout, stdio.Stderr} {
		f, ok := s.(*os.File)
		if !ok || f == nil {
			continue
		}
		// The call succeeds only for the controlling terminal.
		if _, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP); err == nil {
			return true
		}
	}
	return false
}
