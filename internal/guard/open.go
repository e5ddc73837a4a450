//go:build linux

package guard

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// performOpen opens e for a call that may create it, and gives the target a descriptor.
func (g *Guard) performOpen(n notification, t target, c credentials, how openHow, mode uint32, e entry) error {
	if e.tail != "" {
		return unix.EISDIR
	}
	flags := int(how)
	switch {
	case !g.listener.valid(n.id):
		return unix.ESRCH // the call was canceled, or the memory belonged to another process
	case e.proc:
		return g.openProc(n, t, c, flags, e)
	}
	fd, err := -1, error(unix.EEXIST)
	if (!e.exists || flags&unix.O_EXCL != 0) && g.view.permits(e.dir, e.path) {
		err = g.masked(c, mode, e, func(mode uint32) (err error) {
			fd, err = unix.Openat(e.dir, e.name, flags|unix.O_EXCL|unix.O_CLOEXEC, mode)
			return err
		})
	}
	switch {
	case err == nil:
		defer unix.Close(fd)
		err := g.listener.give(n.id, fd, flags&unix.O_CLOEXEC)
		if !errors.Is(err, errAnswered) { // the target has reached its limit of descriptors, or is dead
			e.removeIf(fd)
		}
		return err
	case !errors.Is(err, unix.EEXIST) || flags&unix.O_EXCL != 0:
		return errnoOf(err)
	}
	shared := g.sticky.concerns(e.dir)
	if e.kind == unix.S_IFREG && !shared && (!how.writes() || !g.rules.readOnly(e.String())) {
		if fd, ok := e.openRegular(flags); ok {
			defer unix.Close(fd)
			return g.handOver(n, fd, flags&^unix.O_NOFOLLOW)
		}
	}
	pin, err := unix.Openat(e.dir, e.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) && e.exists { // another process has removed it since
		e.exists = false
		if err := g.decideEntry(opOpen, e); err != nil {
			return err
		}
		return g.performOpen(n, t, c, how, mode, e)
	}
	if err != nil {
		return errnoOf(err)
	}
	if shared && g.sticky.refusesOpen(e.dir, pin, c.uid) {
		_ = unix.Close(pin)
		return unix.EACCES
	}
	return g.reopen(n, t, c, flags, pin)
}

// openRegular opens e, which was a regular file when the guard examined it. ok is false if e is another type now, or on
// any error. If a FIFO or a device has replaced the file, openRegular opens and closes it, which a command could do
// itself.
func (e entry) openRegular(flags int) (fd int, ok bool) {
	flags &^= unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
	how := unix.OpenHow{
		// Nothing blocks the guard: a file may have a lease.
		Flags:   uint64(uint32(flags | unix.O_CLOEXEC | unix.O_NOCTTY | unix.O_NONBLOCK)),
		Resolve: unix.RESOLVE_NO_SYMLINKS,
	}
	fd, err := unix.Openat2(e.dir, e.name, &how)
	if err != nil {
		return -1, false
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		_ = unix.Close(fd)
		return -1, false
	}
	return fd, true
}

// removeIf removes the entry if it is still the file of fd.
func (e entry) removeIf(fd int) {
	var now, made unix.Stat_t
	if unix.Fstatat(e.dir, e.name, &now, unix.AT_SYMLINK_NOFOLLOW) == nil && unix.Fstat(fd, &made) == nil &&
		now.Dev == made.Dev && now.Ino == made.Ino {
		_ = unix.Unlinkat(e.dir, e.name, 0) // on an error the entry stays
	}
}

// handOver gives the target a descriptor that was opened with O_NONBLOCK, with the flags that the target requested.
func (g *Guard) handOver(n notification, fd, flags int) error {
	if flags&unix.O_NONBLOCK == 0 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags); err != nil {
			return errnoOf(err)
		}
	}
	return g.listener.give(n.id, fd, flags&unix.O_CLOEXEC)
}

// reopen opens the file to which the descriptor pin refers, even if another file replaces it meanwhile. It takes over
// pin. An open of a FIFO may wait for the other end: a goroutine does that, and reopen returns errAnswered at once.
func (g *Guard) reopen(n notification, t target, c credentials, flags, pin int) error {
	var st unix.Stat_t
	if err := unix.Fstat(pin, &st); err != nil {
		_ = unix.Close(pin)
		return errnoOf(err)
	}
	flags &^= unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
	kind := st.Mode & unix.S_IFMT
	switch {
	case openHow(flags).writes() && isReadOnlyFIFO(pin):
		_ = unix.Close(pin)
		return unix.EROFS
	case kind == unix.S_IFIFO && flags&unix.O_NONBLOCK == 0 && flags&unix.O_ACCMODE != unix.O_RDWR:
		return g.fifos.open(g, n, t, c, flags, pin)
	case kind == unix.S_IFCHR && st.Rdev == controllingTerminal:
		its, err := t.openTerminal(pin)
		_ = unix.Close(pin)
		if err != nil {
			return err
		}
		pin = its
	}
	defer unix.Close(pin)
	switch {
	case kind == unix.S_IFLNK:
		return unix.ELOOP
	case kind == unix.S_IFDIR:
		return unix.EISDIR
	case kind == unix.S_IFREG && openHow(flags).writes() && g.hasLostMountAt(pin):
		return unix.EROFS
	}
	// Nothing blocks the guard: a file may have a lease, a device may wait for a carrier.
	fd, err := unix.Open(ownDescriptor(pin), flags|unix.O_CLOEXEC|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return errnoOf(err)
	}
	defer unix.Close(fd)
	return g.handOver(n, fd, flags)
}

// openProc opens an existing file of proc(5). The guard may be allowed to open files of other processes that the target
// may not open, so a target gets only its own files.
func (g *Guard) openProc(n notification, t target, c credentials, flags int, e entry) error {
	if flags&unix.O_EXCL != 0 {
		return unix.EEXIST
	}
	if e.name == "" {
		return unix.EISDIR
	}
	if pin, err := t.ownFile(e); err == nil {
		if flags&unix.O_NOFOLLOW != 0 {
			_ = unix.Close(pin)
			return unix.ELOOP
		}
		return g.reopen(n, t, c, flags, pin)
	}
	owner, err := t.ownsProc(e.dir, e.name)
	switch {
	case err != nil:
		return err
	case owner == otherProcess:
		return unix.EACCES
	}
	if isMagic(e.name, e.dir) {
		if flags&unix.O_NOFOLLOW != 0 {
			return unix.ELOOP
		}
		pin, err := t.magic(e)
		if err != nil {
			return err
		}
		return g.reopen(n, t, c, flags, pin)
	}
	pin, err := unix.Openat(e.dir, e.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return errnoOf(err)
	}
	return g.reopen(n, t, c, flags, pin)
}

// ownFile opens what a descriptor of the target refers to, for its path only, if e is the link to it in a proc(5) that
// the target has mounted. Another directory can be mounted over it in the target's proc(5), so the guard uses the link
// in its own proc(5).
func (t target) ownFile(e entry) (int, error) {
	number, err := strconv.Atoi(e.name)
	if err != nil || number < 0 || t.view.has(e.dir, e.path) {
		return -1, unix.ENOENT
	}
	ids, err := t.namespaced()
	if err != nil || !strings.HasSuffix(e.path, "/"+ids["self"]+"/fd") {
		return -1, unix.ENOENT
	}
	fd, err := unix.Open(t.proc(number), unix.O_PATH|unix.O_CLOEXEC, 0)
	return fd, errnoOf(err)
}

// magic opens the target of a magic link of proc(5), for its path only.
func (t target) magic(e entry) (int, error) {
	owner, err := t.ownsProc(e.dir, e.name)
	switch {
	case err != nil:
		return -1, err
	case owner != ownProcess || !isMagic(e.name, e.dir):
		return -1, unix.EACCES
	}
	return t.followMagic(e.dir, e.name)
}

// processOf is the process to which a file of proc(5) belongs.
type processOf int

const (
	noProcess processOf = iota // a file of the system
	ownProcess
	otherProcess
)

// ownsProc returns the process to which the entry name of a directory of proc belongs.
func (t target) ownsProc(dir int, name string) (processOf, error) {
	ids, err := t.namespaced()
	if err != nil {
		return noProcess, err
	}
	path, err := os.Readlink(ownDescriptor(dir))
	if err != nil {
		return noProcess, errnoOf(err)
	}
	if !t.view.has(dir, path) {
		return otherProcess, nil // a mount there can show another process
	}
	for part := range strings.SplitSeq(path+"/"+name, "/") {
		if _, err := strconv.Atoi(part); err != nil {
			continue
		}
		if part == ids["self"] {
			return ownProcess, nil
		}
		return otherProcess, nil
	}
	return noProcess, nil
}

// controllingTerminal is the device number of /dev/tty, which stands for the terminal of whoever opens it (tty(4)).
var controllingTerminal = unix.Mkdev(5, 0)

// openTerminal returns a path descriptor of the target's controlling terminal, for which the file of devTTY stands.
func (t target) openTerminal(devTTY int) (int, error) {
	its, err := t.terminal()
	switch {
	case err != nil:
		return -1, err
	case its.device == 0:
		return -1, unix.ENXIO
	}
	if own, err := (target{tid: os.Getpid()}).terminal(); err == nil && own == its {
		return dup(devTTY)
	}
	return t.openDevice(its.device)
}

// session is a session and its terminal.
type session struct {
	id     int
	device uint64 // 0: none
}

// terminal returns the session of the target.
func (t target) terminal() (session, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(t.tid) + "/stat")
	if err != nil {
		return session{}, unix.ESRCH
	}
	text := string(data)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const sid, tty = 3, 4 // see proc_pid_stat(5); the first field here is the state
	if len(fields) <= tty {
		return session{}, unix.ESRCH
	}
	id, err1 := strconv.Atoi(fields[sid])
	number, err2 := strconv.ParseInt(fields[tty], 10, 64)
	if err1 != nil || err2 != nil {
		return session{}, unix.ESRCH
	}
	if number == 0 {
		return session{id: id}, nil
	}
	encoded := uint32(number)
	return session{id, unix.Mkdev(encoded>>8&0xfff, encoded&0xff|encoded>>12&0xfff00)}, nil
}

// openDevice finds a terminal that the target can name, and opens its path.
func (t target) openDevice(device uint64) (int, error) {
	const firstPseudo, pseudos = 136, 8 // major numbers of pseudo-terminals, each with 256 (devices.txt of Linux)
	root, err := unix.Open(t.proc(rootLink), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, errnoOf(err)
	}
	defer unix.Close(root)
	names := []string{"dev/console"}
	if major := unix.Major(device); major >= firstPseudo && major < firstPseudo+pseudos {
		names = append(names, "dev/pts/"+strconv.Itoa(int((major-firstPseudo)*256+unix.Minor(device))))
	}
	for _, name := range names {
		how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
		if fd, err := unix.Openat2(root, name, &how); err == nil {
			if isDevice(fd, device) {
				return fd, nil
			}
			_ = unix.Close(fd)
		}
	}
	for number := range 3 {
		if fd, err := unix.Open(t.proc(number), unix.O_PATH|unix.O_CLOEXEC, 0); err == nil {
			if isDevice(fd, device) {
				return fd, nil
			}
			_ = unix.Close(fd)
		}
	}
	return -1, unix.ENXIO
}

func isDevice(fd int, device uint64) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == device
}

// ownDescriptor is the path of a descriptor of this process.
func ownDescriptor(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
