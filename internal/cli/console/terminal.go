package console

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// CanHaveColor reports whether output to w may have colours.
func CanHaveColor(w io.Writer, env []string) bool {
	return IsTerminal(w) && Lookup(env, "NO_COLOR") == "" && Lookup(env, "TERM") != "dumb"
}

// IsTerminal reports whether v is a file that is a terminal.
func IsTerminal(v any) bool {
	return canControl(v, func(fd int) error {
		_, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		return err
	})
}

// HasControllingTerminal reports whether one of the streams is our controlling terminal,
// whose keyboard then sends its signals to the command as well as to us.
func (a *App) HasControllingTerminal() bool {
	for _, v := range []any{a.Stdio.Stdin, a.Stdio.Stdout, a.Stdio.Stderr} {
		// Only the controlling terminal reports its foreground process group.
		if canControl(v, func(fd int) error {
			_, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
			return err
		}) {
			return true
		}
	}
	return false
}

// canControl reports whether v is a file whose descriptor satisfies f.
func canControl(v any, f func(fd int) error) bool {
	file, ok := v.(*os.File)
	if !ok || file == nil {
		return false
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return false
	}
	good := false
	err = conn.Control(func(fd uintptr) { good = f(int(fd)) == nil })
	return err == nil && good
}
