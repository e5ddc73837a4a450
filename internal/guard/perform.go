//go:build linux

package guard

import (
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// errPerformed means that the guard created the entry itself; errAnswered that it has also
// answered the target.
var (
	errPerformed = errors.New("performed")
	errAnswered  = errors.New("answered")
)

// perform creates the entry e as the call would, in the mounts of the target and on a thread with its credentials c. If
// the kernel continued the call instead, it would read the path again, and another thread could have changed it
// (seccomp_unotify(2)).
func (g *Guard) perform(n notification, t *reading, c credentials, call entryCall, e entry) error {
	old := "" // of a link: its text, or the existing file
	if call.op == opSymlink || call.op == opLink {
		var err error
		if old, err = t.cString(n.args[call.oldPath]); err != nil {
			return errnoOf(err)
		}
	}
	if !g.listener.valid(n.id) {
		return unix.ESRCH // the call was canceled, or the memory belonged to another process
	}
	switch call.op {
	case opMkdir:
		return markPerformed(g.masked(c, uint32(n.args[call.mode]), e, func(mode uint32) error {
			return unix.Mkdirat(e.dir, e.component(), mode)
		}))
	case opMknod:
		device := int(n.args[call.mode+1])
		return markPerformed(g.masked(c, uint32(n.args[call.mode]), e, func(mode uint32) error {
			return unix.Mknodat(e.dir, e.component(), mode, device)
		}))
	case opSymlink:
		return markPerformed(unix.Symlinkat(old, e.dir, e.component()))
	case opLink:
		return g.performLink(n, t.target, call, old, e)
	case opOpen, opRename, opRemove, opConnect, opBind, opPair, opSockName, opPeerName, opExec, opUmask:
	}
	return unix.EACCES // other functions perform them
}

// performLink links the file at path to e.
func (g *Guard) performLink(n notification, t target, call entryCall, path string, e entry) error {
	flags := 0
	if call.flags >= 0 {
		flags = int(int32(n.args[call.flags]))
	}
	if flags&^(unix.AT_SYMLINK_FOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return unix.EINVAL
	}
	// An empty path names nothing, as for every process without CAP_DAC_READ_SEARCH (open(2)).
	old, err := t.entry(dirOf(n, call.oldDir), path)
	if err != nil {
		return err
	}
	defer func() { old.close() }()
	if flags&unix.AT_SYMLINK_FOLLOW != 0 {
		if old, err = t.followLast(old); err != nil {
			return err
		}
		if old.proc { // a link to a descriptor, whose file may have no name
			file, err := t.magic(old)
			if err != nil {
				return err
			}
			defer unix.Close(file)
			if g.hasLostMountAt(file) {
				return unix.EROFS
			}
			return markPerformed(unix.Linkat(unix.AT_FDCWD, ownDescriptor(file), e.dir, e.component(), unix.AT_SYMLINK_FOLLOW))
		}
	}
	if old.name == "" {
		return unix.EPERM // a directory
	}
	if g.hasLostMount(old) { // the new name has no mount
		return g.deny(opLink, old.String(), unix.EROFS)
	}
	return markPerformed(unix.Linkat(old.dir, old.component(), e.dir, e.component(), 0))
}

// markPerformed turns success into errPerformed.
func markPerformed(err error) error {
	if err == nil {
		return errPerformed
	}
	return errnoOf(err)
}

// give copies fd to the target as the result of its call.
func (l *Listener) give(id uint64, fd, flags int) error {
	if _, err := l.copyDescriptor(id, fd, flags, unix.SECCOMP_ADDFD_FLAG_SEND); err != nil {
		return err
	}
	return errAnswered
}

// copyDescriptor copies fd to the target and returns the number of the copy. flags is 0 or O_CLOEXEC; how are flags of
// SECCOMP_IOCTL_NOTIF_ADDFD.
func (l *Listener) copyDescriptor(id uint64, fd, flags int, how uint32) (number int, err error) {
	request := struct {
		id                            uint64
		flags, srcfd, newfd, newflags uint32
	}{id: id, flags: how, srcfd: uint32(fd), newflags: uint32(flags)}
	err = runUninterrupted(func() error {
		number, err = l.waitResult(unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(&request))
		return err
	})
	return number, errnoOf(err)
}

// runUninterrupted runs a system call that no signal may end: a signal in the middle of SECCOMP_IOCTL_NOTIF_ADDFD takes the
// descriptor back and leaves the answer, so that the target's call returns 0, which is another file. Go's runtime sends
// signals to its own threads.
func runUninterrupted(call func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, all unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	for _, fault := range []unix.Signal{unix.SIGSEGV, unix.SIGBUS, unix.SIGFPE, unix.SIGILL, unix.SIGTRAP} { // the runtime's
		all.Val[0] &^= 1 << (uint(fault) - 1)
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &all, &before); err != nil {
		return err
	}
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }() // this was the mask a moment ago
	return call()
}

// masked runs create, which makes e with a mode, and applies the umask of the target as the kernel would.
func (g *Guard) masked(c credentials, mode uint32, e entry, create func(mode uint32) error) error {
	if g.ownFS && c.umask == g.umask {
		return create(mode)
	}
	if g.ownFS {
		defer unix.Umask(unix.Umask(int(c.umask)))
		return create(mode)
	}
	missing := g.umask &^ c.umask & mode // bits that the umask of this process removes and that of the target does not
	made := missing != 0 && !existsAt(e.dir, e.name)
	if err := create(mode &^ c.umask); err != nil || !made {
		return err
	}
	pin, err := unix.Openat(e.dir, e.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil // it is gone already
	}
	defer unix.Close(pin)
	_ = unix.Chmod(ownDescriptor(pin), mode&0o7777&^c.umask) // without the change the mode is stricter
	return nil
}
