package session

import "io"

// Options are what the guest adds to a session.
type Options struct {
	// Runner is the command line, its own name first, with which this program calls [Run].
	Runner []string
	// Inside handles the commands that the guest itself is, without a process; ok is false for others.
	Inside func(args []string, dir string) (run func(in io.Reader, out, errs io.Writer) int, ok bool)
}
