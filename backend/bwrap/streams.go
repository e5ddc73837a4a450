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

// connect gives bubblewrap the caller's streams. Input that has to be copied is copied by
// a goroutine that nobody waits for: its source may never end.
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
	own := func(f *os.File) bool { return p.leads(f, plan) }
	c.Stdout, c.Stderr = p.output(stdio.Stdout, own), p.output(stdio.Stderr, own)
	if sameFile(c.Stdout, c.Stderr) {
		c.Stderr = c.Stdout // one copier, so that lines stay in their order
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
		_, _ = io.Copy(w, stdio.Stdin) // EPIPE when the command does not want it
		_ = w.Close()
	}()
	return nil
}

// output is w as bubblewrap gets it, never nil: package exec would open a nil one itself,
// on the thread whose calls are reported.
func (p *process) output(w io.Writer, leads func(*os.File) bool) io.Writer {
	f, ok := w.(*os.File)
	switch {
	case w == nil || ok && f == nil:
		return p.null
	case ok && leads(f):
		return copied{f}
	}
	return w
}

// copied is a file that package exec does not take for one, and so copies to.
type copied struct{ io.Writer }

// leads reports whether a descriptor leads around the sandbox's mounts: what is open for
// reading, or for appending, can be opened anew through /proc/self/fd for anything that
// the host's own mount allows (proc_pid_fd(5)), and a directory has all that lies below.
// What commands may write anyway, they get as it is.
func (p *process) leads(f *os.File, plan *policy.Plan) bool {
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

func sameFile(a, b io.Writer) bool {
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
