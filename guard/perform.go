//go:build linux

package guard

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// errPerformed says that the guard made the entry itself; errAnswered that the
// target has its answer, too.
var (
	errPerformed = errors.New("performed")
	errAnswered  = errors.New("answered")
)

// delicate reports whether name is one that some directory guards. Between our
// answer and the kernel's own walk, a link on the way to it could be exchanged and
// lead there. Such entries we make ourselves, in the directory that we looked at.
func (r *ruleset) delicate(name string) bool { return r.delicates[strings.ToLower(name)] }

// perform makes the entry e as the call would. The kernel checks our rights, which
// are the target's, in the target's own mounts.
func (g *Guard) perform(n notification, t *reading, call entryCall, e entry) error {
	mode := uint32(0)
	if call.op == opOpen || call.op == opMkdir || call.op == opMknod {
		mask, err := t.umask()
		if err != nil {
			return err
		}
		mode = uint32(n.args[call.mode]) &^ mask
	}
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
		text, err := t.cString(n.args[call.oldPath])
		if err != nil {
			return errnoOf(err)
		}
		return performed(unix.Symlinkat(text, e.dir, e.name))
	case opLink:
		return g.performLink(n, t, call, e)
	case opRename, opRemove, opConnect, opBind, opExec:
	}
	return unix.EACCES // bind makes a socket file of a protected name: nobody needs one
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
		return unix.EACCES // opening it could wait for ever, and here everybody would wait
	}
	fd, err := unix.Openat(e.dir, e.name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NOCTTY, mode)
	if err != nil {
		return errnoOf(err)
	}
	defer unix.Close(fd)
	return g.listener.give(n.id, fd, flags&unix.O_CLOEXEC)
}

func (g *Guard) performLink(n notification, t *reading, call entryCall, e entry) error {
	if call.flags >= 0 && n.args[call.flags] != 0 {
		return unix.EACCES // by descriptor, or through a link: rare, and not ours to follow
	}
	path, err := t.cString(n.args[call.oldPath])
	if err != nil {
		return errnoOf(err)
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

// umask is the target's file mode creation mask.
func (t target) umask() (uint32, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", t.tid))
	if err != nil {
		return 0, unix.ESRCH
	}
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte("Umask:")); ok {
			mask, err := strconv.ParseUint(string(bytes.TrimSpace(rest)), 8, 32)
			return uint32(mask), errnoOf(err)
		}
	}
	return 0, unix.EACCES
}

// give puts a copy of fd into the target as the result of its call.
func (l *Listener) give(id uint64, fd, flags int) error {
	request := struct {
		id                            uint64
		flags, srcfd, newfd, newflags uint32
	}{id: id, flags: unix.SECCOMP_ADDFD_FLAG_SEND, srcfd: uint32(fd), newflags: uint32(flags)}
	if err := l.ioctl(unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(&request)); err != nil {
		return errnoOf(err)
	}
	return errAnswered
}
