package shell

import (
	"context"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
)

// ownFds makes the process's table its own.
func (sh *interp) ownFds() *fd.Table {
	t := sh.fds.Own()
	if t != sh.fds {
		sh.fds = t
		sh.showFds()
	}
	return t
}

// showFds lets other processes see what this one has open, if it is one for others.
func (sh *interp) showFds() {
	if sh.ownProcess {
		sh.p.Fds.Store(sh.fds)
	}
}

// setFd makes descriptor n the description, taking over the reference; nil closes it.
func (sh *interp) setFd(n int, d *fd.Description) error {
	if n >= sh.maxFiles() {
		if d != nil {
			d.Unref()
		}
		return syscall.EBADF
	}
	sh.ownFds().Set(n, d)
	return nil
}

// freeFd returns the lowest closed descriptor from at on.
func (sh *interp) freeFd(at int) (int, error) {
	for n := at; n < sh.maxFiles(); n++ {
		if sh.fds.Get(n) == nil {
			return n, nil
		}
	}
	return 0, syscall.EMFILE
}

func (sh *interp) maxFiles() int {
	n := sh.m.limits.Files
	if sh.rlimit != nil && sh.rlimit.files >= 0 {
		n = min(n, sh.rlimit.files)
	}
	return n
}

// stream returns a view of the descriptor.
func (sh *interp) stream(ctx context.Context, n int) *fd.Stream {
	return fd.NewStream(ctx, sh.fds.Get(n))
}

// openFile opens a path for a redirection or built-in.
func (sh *interp) openFile(path string, flag int) (*fd.Description, error) {
	if n, ok := ownStream(path); ok {
		d := sh.fds.Get(n)
		if d == nil {
			return nil, syscall.ENOENT
		}
		return sh.reopen(sh.ctx, d, flag)
	}
	f, err := sh.m.fs.OpenFile(sh.ctx, sh.cred, sh.abs(path), flag, 0o666&^sh.umask)
	if err != nil {
		return nil, err
	}
	if s, ok := f.Stream().(fd.Shared); ok { // One that the process has open, by another name.
		d := s.Description.Ref()
		_ = f.Close()
		return d, nil
	}
	return fd.NewFile(f, path), nil
}
