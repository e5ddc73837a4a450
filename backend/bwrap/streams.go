//go:build linux

package bwrap

import (
	"io"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// connect passes the caller's streams to bubblewrap. A goroutine copies input that cannot be
// passed; nothing waits for it, because its source may never end.
func (p *process) connect(c *exec.Cmd, plan *policy.Plan, stdio sandbox.Stdio) error {
	var err error
	p.pidfd, p.reaped, p.settled = -1, make(chan struct{}), make(chan struct{})
	if p.launched, err = unix.Eventfd(0, unix.EFD_CLOEXEC); err != nil {
		return err
	}
	if p.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		_ = unix.Close(p.launched)
		return err
	}
	own := func(f *os.File) bool { return p.canBypassMounts(f, plan) }
	c.Stdout, c.Stderr = p.output(stdio.Stdout, own), p.output(stdio.Stderr, own)
	if isSameFile(c.Stdout, c.Stderr) {
		c.Stderr = c.Stdout // one copier, so that lines stay in order
	}
	if stdio.Stdin == nil {
		c.Stdin = p.null
		return nil
	}
	if f, ok := stdio.Stdin.(*os.File); ok && !own(f) {
		if f == nil {
			f = p.null
		}
		c.Stdin = f
		return nil
	}
	w, err := c.StdinPipe()
	if err != nil {
		_, _ = p.null.Close(), unix.Close(p.launched)
		return err
	}
	p.feeds = true
	go func() {
		_, _ = io.Copy(w, stdio.Stdin) // EPIPE if the command does not read it
		_ = w.Close()
	}()
	return nil
}

// output returns the writer for bubblewrap, never nil: package exec would open a nil one
// itself, on the thread whose calls the guard receives.
func (p *process) output(w io.Writer, bypasses func(*os.File) bool) io.Writer {
	f, ok := w.(*os.File)
	switch {
	case w == nil || ok && f == nil:
		return p.null
	case ok && bypasses(f):
		return copied{f}
	}
	return w
}

// copied hides that a writer is a file, so that package exec copies to it.
type copied struct{ io.Writer }

// canBypassMounts reports whether a descriptor would give access around the sandbox's mounts: a
// command can open a file that is open for reading or appending again through /proc/self/fd, for
// anything that the host's own mount allows (proc_pid_fd(5)), and through a directory everything
// below it. It is false for files that commands may write anyway.
func (p *process) canBypassMounts(f *os.File, plan *policy.Plan) bool {
	if f == nil {
		return false
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return true
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR, unix.S_IFBLK, unix.S_IFLNK:
		return true
	default:
		return false
	}
	if p.staged != nil {
		return true
	}
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
	if err != nil {
		return true
	}
	// A deleted file's path may be that of another one.
	var at unix.Stat_t
	if unix.Lstat(path, &at) != nil || at.Dev != st.Dev || at.Ino != st.Ino {
		return true
	}
	access, _ := plan.Access(path)
	return access != policy.ReadWrite
}

func isSameFile(a, b io.Writer) bool {
	x, xok := a.(copied)
	y, yok := b.(copied)
	if !xok || !yok {
		return false
	}
	xf, xok := x.Writer.(*os.File)
	yf, yok := y.Writer.(*os.File)
	if !xok || !yok {
		return false
	}
	xi, xerr := xf.Stat()
	yi, yerr := yf.Stat()
	return xerr == nil && yerr == nil && os.SameFile(xi, yi)
}
