//go:build linux

package guard

import (
	"errors"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// errPerformed means that the guard created the entry itself; errAnswered that it has also
// answered the target.
var (
	errPerformed = errors.New("performed")
	errAnswered  = errors.New("answered")
)

// delicate reports whether some directory guards name. Between the guard's
// answer and the kernel's own walk, a command could exchange a link on the way and
// lead the kernel there. The guard creates such entries itself, in the directory that it checked.
func (r *ruleset) delicate(name string) bool { return r.delicates[strings.ToLower(name)] }

// perform creates the entry e as the call would, with the rights of the target and in its own mounts.
func (g *Guard) perform(n notification, t *reading, call entryCall, e entry) error {
	old := "" // of a link: the text, or the file
	if call.op == opSymlink || call.op == opLink {
		var err error
		if old, err = t.cString(n.args[call.oldPath]); err != nil {
			return errnoOf(err)
		}
	}
	return g.asCaller(n, t.target, []entry{e}, func(c credentials) error {
		mode := uint32(n.args[max(call.mode, 0)]) &^ c.umask
		switch call.op {
		case opOpen:
			return g.performOpen(n, call, e, mode)
		case opMkdir:
			return performed(unix.Mkdirat(e.dir, e.name, mode))
		case opMknod:
			if kind := mode & unix.S_IFMT; kind == unix.S_IFCHR || kind == unix.S_IFBLK {
				return unix.EPERM
			}
			return performed(unix.Mknodat(e.dir, e.name, mode, 0))
		case opSymlink:
			return performed(unix.Symlinkat(old, e.dir, e.name))
		case opLink:
			return performLink(n, t.target, call, old, e)
		case opRename, opRemove, opConnect, opBind, opExec:
		}
		return unix.EACCES // a socket with a protected name has no use
	})
}

// asCaller runs f with the rights of the target, which also must be able to reach the directories of entries: the
// guard may have walked through some that the target cannot search.
func (g *Guard) asCaller(n notification, t target, entries []entry, f func(credentials) error) error {
	c, err := t.credentials()
	if err != nil {
		return err
	}
	return g.callers.run(c, func() error {
		for _, e := range entries {
			again, err := t.entryIn(e.String())
			if err != nil {
				return err
			}
			reached := same(again.dir, e.dir)
			again.close()
			if !reached {
				return unix.EACCES
			}
		}
		if !g.listener.valid(n.id) {
			return unix.ESRCH // what was read is not the target's, or no longer wanted
		}
		return f(c)
	})
}

// performOpen hands the target a descriptor of the file.
func (g *Guard) performOpen(n notification, call entryCall, e entry, mode uint32) error {
	if call.how {
		return unix.EACCES
	}
	flags := unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC
	if call.flags >= 0 {
		flags = int(uint32(n.args[call.flags]))
	}
	var st unix.Stat_t
	if err := unix.Fstatat(e.dir, e.name, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO {
		return unix.EACCES // opening a FIFO could block for ever, and so every call of the sandbox
	}
	fd, err := unix.Openat(e.dir, e.name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NOCTTY|unix.O_NONBLOCK, mode)
	if err != nil {
		return errnoOf(err)
	}
	defer unix.Close(fd)
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT == unix.S_IFIFO {
		return unix.EACCES // one took the file's place
	}
	if flags&unix.O_NONBLOCK == 0 {
		now, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err == nil {
			_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, now&^unix.O_NONBLOCK)
		}
		if err != nil {
			return errnoOf(err)
		}
	}
	return g.listener.give(n.id, fd, flags&unix.O_CLOEXEC)
}

// performLink links the file at path to e.
func performLink(n notification, t target, call entryCall, path string, e entry) error {
	if call.flags >= 0 && n.args[call.flags] != 0 {
		return unix.EACCES // by descriptor, or through a link: rare, and the guard does not follow it
	}
	old, err := t.entry(dirOf(n, call.oldDir), path)
	if err != nil {
		return err
	}
	defer old.close()
	return performed(unix.Linkat(old.dir, old.name, e.dir, e.name, 0))
}

// performed turns success into errPerformed.
func performed(err error) error {
	if err == nil {
		return errPerformed
	}
	return errnoOf(err)
}

// give copies fd to the target as the result of its call.
func (l *Listener) give(id uint64, fd, flags int) error {
	request := struct {
		id                            uint64
		flags, srcfd, newfd, newflags uint32
	}{id: id, flags: unix.SECCOMP_ADDFD_FLAG_SEND, srcfd: uint32(fd), newflags: uint32(flags)}
	err := uninterrupted(func() error { return l.ioctl(unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(&request)) })
	if err != nil {
		return errnoOf(err)
	}
	return errAnswered
}

// uninterrupted runs a system call that no signal may end: a signal in the middle of SECCOMP_IOCTL_NOTIF_ADDFD takes the
// descriptor back and leaves the answer, so that the target's call returns 0, which is another file. Go's runtime sends
// signals to its own threads.
func uninterrupted(call func() error) error {
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
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }() // it was the mask a moment ago
	return call()
}
