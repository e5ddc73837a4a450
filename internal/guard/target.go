//go:build linux

package guard

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// target is a thread inside the sandbox that waits for the guard's answer. All data that is read from it is hostile.
type target struct {
	tid     int
	view    *view
	threads *threads // nil: none is known
	known   *thread  // of threads; nil: it is not one
	cwd     string   // the working directory of known when its call arrived
	sticky  sticky   // for links that the guard follows for it
	uid     int      // of the file system, for sticky
	own     int      // the directory of this process's descriptors in proc(5); 0: not opened
}

// maxLinks is the number of symbolic links that the kernel follows (path_resolution(7)).
const maxLinks = 40

// cString reads the path at addr, up to PATH_MAX with its NUL.
func (t target) cString(addr uint64) (string, error) {
	const page, most = 4096, 512 // most paths are shorter
	buf := make([]byte, 0, 256)
	for len(buf) < unix.PathMax {
		// Do not read across a page boundary: the next page may not be mapped.
		n := min(page-int(addr%page), most)
		chunk := make([]byte, n)
		got, err := t.read(addr, chunk)
		if err != nil {
			return "", err
		}
		if i := bytes.IndexByte(chunk[:got], 0); i >= 0 {
			return string(append(buf, chunk[:i]...)), nil
		}
		buf = append(buf, chunk[:got]...)
		addr += uint64(got)
	}
	return "", unix.ENAMETOOLONG
}

// reading is a target with the paths that were read from it. After the decision the guard compares them with the
// target's memory.
type reading struct {
	target
	addrs []uint64
	texts []string
}

// path is cString, and stores the result.
func (r *reading) path(addr uint64) (string, error) {
	s, err := r.cString(addr)
	if err == nil {
		r.addrs, r.texts = append(r.addrs, addr), append(r.texts, s)
	}
	return s, err
}

// changed reports whether a path differs from the first reading.
func (r *reading) changed() bool {
	for i, addr := range r.addrs {
		if s, err := r.cString(addr); err != nil || s != r.texts[i] {
			return true
		}
	}
	return false
}

func (t target) read(addr uint64, buf []byte) (int, error) {
	if len(buf) == 0 {
		return 0, nil
	}
	local := unix.Iovec{Base: &buf[0]}
	local.SetLen(len(buf))
	n, err := unix.ProcessVMReadv(t.tid, []unix.Iovec{local}, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(buf)}}, 0)
	if err == nil && n == 0 {
		err = unix.EFAULT
	}
	return n, err
}

// entry is a name in a directory, seen from the target.
type entry struct {
	dir  int    // O_PATH descriptor of the directory; the holder closes it
	path string // canonical path of the directory inside
	name string // one component; empty when the path is "/" or ends in "." or ".."
	tail string // "/" if slashes follow the name: the entry must be a directory
	proc bool   // the directory belongs to proc(5)

	looked bool // the next fields are valid:
	exists bool
	kind   uint32 // type bits of its mode (S_IFMT)
}

func (e entry) close() {
	if e.dir >= 0 {
		_ = unix.Close(e.dir)
	}
}

// String is the entry's path inside.
func (e entry) String() string { return filepath.Join(e.path, e.name) }

// entry resolves the directory part of path, relative to dirfd, with the target's root and the target's /proc/self. It
// does not follow the last component.
func (t target) entry(dirfd int, path string) (entry, error) {
	if path == "" {
		return entry{dir: -1}, unix.ENOENT
	}
	if !strings.HasPrefix(path, "/") {
		base, err := t.directory(dirfd)
		if err != nil {
			return entry{dir: -1}, err
		}
		path = base + "/" + path
	}
	return t.entryIn(path)
}

// directory returns the path of a directory that the target has open, or of its working directory.
func (t target) directory(dirfd int) (string, error) {
	if t.known != nil && dirfd == unix.AT_FDCWD {
		return t.cwd, nil
	}
	path, err := readlinkat(unix.AT_FDCWD, t.proc(dirfd))
	if !errors.Is(err, unix.EACCES) || dirfd < 0 {
		return path, err
	}
	fd, err := t.descriptor(dirfd)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	path, err = os.Readlink(ownDescriptor(fd))
	return path, errnoOf(err)
}

// followMagic opens the object to which the magic link name in the proc directory at leads; the directory belongs to
// the target. In proc(5), descriptors of a process that is not dumpable, such as the supervisor, belong to root
// (proc_pid_fd(5)), so a guard without privileges copies the descriptor.
func (t target) followMagic(at int, name string) (int, error) {
	followed, err := unix.Openat(at, name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if !errors.Is(err, unix.EACCES) {
		return followed, errnoOf(err)
	}
	number, notNumber := strconv.Atoi(name)
	if path, err := os.Readlink(ownDescriptor(at)); err != nil || notNumber != nil || filepath.Base(path) != "fd" {
		return -1, unix.EACCES
	}
	fd, err := t.descriptor(number)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	followed, err = unix.Open(ownDescriptor(fd), unix.O_PATH|unix.O_CLOEXEC, 0)
	return followed, errnoOf(err)
}

// entryIn is like entry, for an absolute path.
func (t target) entryIn(path string) (entry, error) {
	trimmed := strings.TrimRight(path, "/")
	slash := strings.LastIndexByte(trimmed, '/')
	dir, name := trimmed[:slash+1], trimmed[slash+1:]
	if name == "." || name == ".." || name == "" {
		dir, name = path+"/", ""
	}
	root, closes, err := t.threads.openRoot(t)
	if err != nil {
		return entry{dir: -1}, err
	}
	if closes {
		defer unix.Close(root)
	}
	fd, proc, err := t.openDir(root, dir)
	if err != nil {
		return entry{dir: -1}, err
	}
	canonical, err := t.pathOf(fd)
	if err != nil {
		_ = unix.Close(fd)
		return entry{dir: -1}, err
	}
	e := entry{dir: fd, path: canonical, name: name, proc: proc}
	if name != "" && len(trimmed) < len(path) {
		e.tail = "/"
	}
	return e, nil
}

// pathOf returns the path of a descriptor of this process.
func (t target) pathOf(fd int) (string, error) {
	if t.own > 0 {
		return readlinkat(t.own, strconv.Itoa(fd))
	}
	return readlinkat(unix.AT_FDCWD, ownDescriptor(fd))
}

// look looks at the entry, once.
func (e *entry) look() {
	if e.looked {
		return
	}
	var st unix.Stat_t
	e.exists = unix.Fstatat(e.dir, e.name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil
	e.looked, e.kind = true, st.Mode&unix.S_IFMT
}

// component returns the last component for the kernel, with the slash that follows it.
func (e entry) component() string { return e.name + e.tail }

// openDir opens a directory by its path below root. It first calls openat2(2), and if that fails, walk. The kernel call
// does not follow magic links, and it fails with EAGAIN for ".." while any file on the machine is renamed or mounted.
// It would follow /proc/self to this process, so walk also handles all paths that lead into proc(5).
func (t target) openDir(root int, dir string) (fd int, proc bool, err error) {
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	}
	fd, err = unix.Openat2(root, dir, &how)
	switch {
	case err == nil && isProc(fd):
		_ = unix.Close(fd)
	case err == nil:
		return fd, false, nil
	case !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ELOOP) && !errors.Is(err, unix.EAGAIN):
		return -1, false, errnoOf(err)
	}
	if fd, err = t.walk(root, dir); err != nil {
		return -1, false, err
	}
	return fd, isProc(fd), nil
}

// walk follows dir component by component.
func (t target) walk(root int, dir string) (int, error) {
	at, err := dup(root)
	if err != nil {
		return -1, err
	}
	rest := strings.Split(dir, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == "" || name == "." {
			continue
		}
		next, link, err := t.step(root, at, name)
		_ = unix.Close(at)
		if err != nil {
			return -1, err
		}
		at = next
		if link != "" {
			if links++; links > maxLinks {
				_ = unix.Close(at)
				return -1, unix.ELOOP
			}
			rest = append(strings.Split(link, "/"), rest...)
		}
	}
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		_ = unix.Close(at)
		return -1, unix.ENOTDIR
	}
	return at, nil
}

// step opens name in at. For a symbolic link it returns the link's text and the
// directory that the text is relative to.
func (t target) step(root, at int, name string) (next int, link string, err error) {
	proc := isProc(at)
	if proc && (name == "self" || name == "thread-self") {
		ids, err := t.namespaced()
		if err != nil {
			return -1, "", err
		}
		next, err := dup(at)
		return next, ids[name], err
	}
	if name == ".." && isSameFile(root, at) {
		next, err := dup(at)
		return next, "", err
	}
	next, err = unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, "", errnoOf(err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(next, &st); err != nil {
		_ = unix.Close(next)
		return -1, "", errnoOf(err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return next, "", nil
	}
	defer unix.Close(next)
	if proc && isMagic(name, at) {
		if owner, err := t.ownsProc(at, name); err != nil || owner == otherProcess {
			return -1, "", unix.EACCES // the guard may search directories that the target may not
		}
		followed, err := t.followMagic(at, name)
		return followed, "", err
	}
	text, err := readlinkat(next, "")
	if err != nil {
		return -1, "", err
	}
	base := at
	if strings.HasPrefix(text, "/") {
		base = root
	}
	next2, err := dup(base)
	return next2, text, err
}

// namespaced maps "self" and "thread-self" to the target's IDs in the sandbox's own PID namespace.
func (t target) namespaced() (map[string]string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", t.tid))
	if err != nil {
		return nil, unix.ENOENT
	}
	var tgid, tid string
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 2:
		case fields[0] == "NStgid:":
			tgid = fields[len(fields)-1]
		case fields[0] == "NSpid:":
			tid = fields[len(fields)-1]
		}
	}
	if tgid == "" || tid == "" {
		return nil, unix.ENOENT
	}
	return map[string]string{"self": tgid, "thread-self": tgid + "/task/" + tid}, nil
}

// rootLink returns the link to the target's root directory in proc.
const rootLink = -1 << 30

// proc returns the link in /proc to one of the target's descriptors.
func (t target) proc(fd int) string {
	id := strconv.Itoa(t.tid)
	switch fd {
	case unix.AT_FDCWD:
		return "/proc/" + id + "/cwd"
	case rootLink:
		return "/proc/" + id + "/root"
	}
	return "/proc/" + id + "/fd/" + strconv.Itoa(fd)
}

func isProc(fd int) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) == nil && st.Type == unix.PROC_SUPER_MAGIC
}

// isMagic reports whether name in the proc directory dir is a magic link, which leads to an object and not to its text
// (proc(5)).
func isMagic(name string, dir int) bool {
	switch name {
	case "cwd", "root", "exe":
		return true
	}
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(dir))
	if err != nil {
		return false
	}
	switch filepath.Base(path) {
	case "fd", "map_files", "ns":
		return true
	}
	return false
}

func isSameFile(a, b int) bool {
	var x, y unix.Stat_t
	return unix.Fstat(a, &x) == nil && unix.Fstat(b, &y) == nil && x.Dev == y.Dev && x.Ino == y.Ino
}

func dup(fd int) (int, error) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	return n, errnoOf(err)
}

func readlinkat(dir int, name string) (string, error) {
	var short [256]byte // most links fit
	buf := short[:]
	n, err := unix.Readlinkat(dir, name, buf)
	if err == nil && n == len(buf) {
		buf = make([]byte, unix.PathMax)
		n, err = unix.Readlinkat(dir, name, buf)
	}
	if err != nil {
		return "", errnoOf(err)
	}
	return string(buf[:n]), nil
}

// errnoOf returns the number of a system call's error, for the target.
func errnoOf(err error) error {
	if err == nil {
		return nil
	}
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		return errno
	}
	return unix.EACCES
}
