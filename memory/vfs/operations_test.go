package vfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

const slots = 4

// op is one operation, of which each kind uses some fields.
type op struct {
	kind        string
	who         vfs.Cred
	path, path2 string
	mode        uint32
	flag, slot  int
	uid, gid    uint32
	n, off      int64
}

func (o op) data() []byte {
	return []byte(strings.Repeat(string('a'+rune(o.n%26)), int(o.n)))
}

func (o op) String() string {
	return fmt.Sprintf("%s %.40q %.40q as %d mode %o flag %#x slot %d ids %d:%d n %d off %d",
		o.kind, o.path, o.path2, o.who.UID, o.mode, o.flag, o.slot, int32(o.uid), int32(o.gid), o.n, o.off)
}

// node is one path of a tree.
type node struct {
	text         string
	ino          uint64
	mtime, ctime int64
}

// memory does operations on a file system in memory.
type memory struct {
	t       *testing.T
	fs      *vfs.FS
	noLinks bool // leave the number of links of directories out
	files   [slots]*vfs.File
	users   [slots]vfs.Cred // who opened them
}

func modeOf(m uint32) fs.FileMode {
	f := fs.FileMode(m & 0o777)
	for bit, mode := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if m&bit != 0 {
			f |= mode
		}
	}
	return f
}

func bitsOf(f fs.FileMode) uint32 {
	m := uint32(f.Perm())
	for bit, mode := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if f&mode != 0 {
			m |= bit
		}
	}
	return m | direntType(f)<<12
}

func direntType(f fs.FileMode) uint32 {
	switch f.Type() {
	case fs.ModeDir:
		return 4
	case fs.ModeSymlink:
		return 10
	case fs.ModeNamedPipe:
		return 1
	case fs.ModeDevice | fs.ModeCharDevice:
		return 2
	default:
		return 8
	}
}

func (m *memory) stat(i vfs.Info) string {
	size, links := i.Size, i.Nlink
	if i.IsDir() {
		size = 0
		if m.noLinks {
			links = 0
		}
	}
	return fmt.Sprintf("%o %d %d:%d %d %d", bitsOf(i.Mode), links, i.UID, i.GID, size, i.Rdev)
}

func (m *memory) do(o op) (string, syscall.Errno) {
	f, c := m.fs, o.who
	switch o.kind {
	case "mkdir":
		return "", number(f.Mkdir(c, o.path, modeOf(o.mode)))
	case "mkfifo":
		return "", number(f.Mkfifo(c, o.path, modeOf(o.mode)))
	case "mknod":
		return "", number(f.Mknod(c, o.path, modeOf(o.mode)|fs.ModeDevice|fs.ModeCharDevice, vfs.Device(1, 3)))
	case "mkreg":
		return "", number(f.Mknod(c, o.path, modeOf(o.mode), 0))
	case "symlink":
		return "", number(f.Symlink(c, o.path2, o.path))
	case "link":
		return "", number(f.Link(c, o.path, o.path2))
	case "rename":
		return "", number(f.Rename(c, o.path, o.path2))
	case "unlink":
		return "", number(f.Unlink(c, o.path))
	case "rmdir":
		return "", number(f.Rmdir(c, o.path))
	case "chmod":
		return "", number(f.Chmod(c, o.path, modeOf(o.mode)))
	case "chown", "lchown":
		return "", number(f.Chown(c, o.path, o.uid, o.gid, o.kind == "chown"))
	case "truncate":
		return "", number(f.Truncate(c, o.path, o.n))
	case "utimes":
		return "", number(f.Chtimes(c, o.path, time.Unix(o.n, 7), time.Time{}, true))
	case "access":
		return "", number(f.Access(c, o.path, o.mode&7))
	case "readlink":
		s, err := f.Readlink(c, o.path)
		return s, number(err)
	case "stat", "lstat":
		i, err := f.Lstat(c, o.path)
		if o.kind == "stat" {
			i, err = f.Stat(c, o.path)
		}
		if err != nil {
			return "", number(err)
		}
		return m.stat(i), 0
	case "readdir":
		list, err := f.ReadDir(c, o.path)
		var all []string
		for _, e := range list {
			all = append(all, e.Name+":"+strconv.Itoa(int(direntType(e.Mode))))
		}
		slices.Sort(all)
		return strings.Join(all, " "), number(err)
	}
	return m.doFile(o)
}

func (m *memory) doFile(o op) (string, syscall.Errno) {
	file := &m.files[o.slot]
	if o.kind == "open" {
		n, err := m.fs.OpenFile(m.t.Context(), o.who, o.path, o.flag|syscall.O_NONBLOCK, modeOf(o.mode))
		if err != nil {
			return "", number(err)
		}
		if *file != nil {
			_ = (*file).Close()
		}
		*file, m.users[o.slot] = n, o.who
		return "", 0
	}
	if *file == nil {
		return "", syscall.EBADF
	}
	end := func(err error) syscall.Errno {
		if errors.Is(err, io.EOF) {
			return 0
		}
		return number(err)
	}
	buf := make([]byte, o.n)
	switch o.kind {
	case "close":
		err := (*file).Close()
		*file = nil
		return "", number(err)
	case "read":
		n, err := (*file).Read(buf)
		return string(buf[:n]), end(err)
	case "pread":
		n, err := (*file).ReadAt(buf, o.off)
		return string(buf[:n]), end(err)
	case "write":
		n, err := (*file).Write(o.data())
		return fmt.Sprint(n), number(err)
	case "pwrite":
		n, err := (*file).WriteAt(o.data(), o.off)
		return fmt.Sprint(n), number(err)
	case "seek":
		at, err := (*file).Seek(o.off, int(o.mode%3))
		return fmt.Sprint(at), number(err)
	case "ftruncate":
		return "", number((*file).Truncate(o.n))
	case "fstat":
		i, err := (*file).Stat()
		return m.stat(i), number(err)
	}
	return "", syscall.ENOSYS
}

func (m *memory) tree() map[string]node {
	all := map[string]node{}
	var walk func(path string)
	walk = func(path string) {
		i, err := m.fs.Lstat(root, path)
		if err != nil {
			all[path] = node{text: err.Error()}
			return
		}
		n := node{text: m.stat(i), ino: i.Ino, mtime: i.Mtime.UnixNano(), ctime: i.Ctime.UnixNano()}
		switch i.Mode.Type() { //nolint:exhaustive // The rest is compared by Stat.
		case 0:
			data, err := m.fs.ReadFile(m.t.Context(), root, path)
			if err != nil {
				n.text += err.Error()
			}
			n.text += fmt.Sprintf(" %x", sum(data))
		case fs.ModeSymlink:
			s, _ := m.fs.Readlink(root, path)
			n.text += " -> " + s
		case fs.ModeDir:
			list, err := m.fs.ReadDir(root, path)
			if err != nil {
				n.text += err.Error()
			}
			for _, e := range list {
				walk(strings.TrimSuffix(path, "/") + "/" + e.Name)
			}
		}
		all[path] = n
	}
	walk("/")
	return all
}

// choices makes operations from random numbers.
type choices func(n int) int

func (pick choices) path() string {
	if pick(60) == 0 {
		return []string{"", "/", "//", "/.", "/..", "/" + strings.Repeat("x/", 2060)}[pick(6)]
	}
	var b strings.Builder
	for range 1 + pick(4)*pick(2) + pick(2) {
		b.WriteString("/")
		switch k := pick(100); {
		case k < 90:
			b.WriteByte("abcde"[pick(5)])
		case k < 93:
			b.WriteString("..")
		case k < 95:
			b.WriteString(".")
		case k < 96:
			b.WriteString(strings.Repeat("n", 255))
		case k < 97:
			b.WriteString(strings.Repeat("n", 256))
		case k < 98:
			b.WriteString("/")
		default:
			b.WriteString("new")
		}
	}
	if pick(12) == 0 {
		b.WriteString("/")
	}
	return b.String()
}

func (pick choices) target() string {
	switch pick(8) {
	case 0:
		return ""
	case 1, 2:
		return pick.path()
	case 3:
		return strings.Repeat("../", pick(3)) + string("abcde"[pick(5)])
	case 4:
		return strings.Repeat("t", 4094+pick(3))
	}
	return string("abcde"[pick(5)]) + strings.TrimSuffix(pick.path(), "/")
}

var kinds = strings.Fields(`mkdir mkdir mkdir mkfifo mknod mkreg mkreg symlink symlink link link rename rename rename rename
	unlink unlink rmdir rmdir chmod chmod chown chown lchown truncate utimes access access readlink stat lstat readdir
	open open open open open open close read pread write write pwrite seek ftruncate fstat`)

var people = []vfs.Cred{
	{},
	{},
	{UID: 1000, GID: 1000, Groups: []uint32{2000}},
	{UID: 1001, GID: 1001, Groups: []uint32{2000, 1000}},
}

func (pick choices) op() op {
	ids := []uint32{0, 1000, 1001, 2000, vfs.Keep}
	flags := 0
	for _, flag := range []int{os.O_WRONLY, os.O_RDWR, os.O_CREATE, os.O_CREATE, os.O_EXCL, os.O_TRUNC, os.O_APPEND, syscall.O_NOFOLLOW, syscall.O_DIRECTORY} {
		if pick(3) == 0 {
			flags |= flag
		}
	}
	o := op{
		kind: kinds[pick(len(kinds))], who: people[pick(len(people))], path: pick.path(), path2: pick.path(),
		mode: []uint32{0o777, 0o755, 0o700, 0o644, 0o1777, 0o2775, 0o4755, 0o2745, 0, 0o111, uint32(pick(0o10000))}[pick(11)],
		flag: flags, slot: pick(slots), uid: ids[pick(len(ids))], gid: ids[pick(len(ids))],
	}
	o.n = []int64{0, 1, 10, 4096, 65535, 65536, 65537, 200000, int64(pick(1000))}[pick(9)]
	o.off = []int64{0, 1, 100, 65535, 65536, 131073, 500000, -1, int64(pick(300000))}[pick(9)]
	if o.kind == "symlink" {
		o.path2 = pick.target()
	}
	if o.kind == "open" && o.flag&3 == 3 {
		o.flag &^= 1 // Linux knows access mode 3 for drivers only; it means nothing here
	}
	return o
}

func newMemory(t *testing.T) *memory {
	t.Helper()
	start := time.Now()
	return &memory{t: t, fs: vfs.New(vfs.Options{Limits: vfs.Limits{Bytes: -1, FileBytes: -1, Nodes: -1}, Now: func() time.Time {
		start = start.Add(time.Microsecond) // no two moments are the same
		return start
	}})}
}

func number(err error) syscall.Errno {
	var e syscall.Errno
	if err == nil {
		return 0
	}
	if !errors.As(err, &e) {
		return syscall.Errno(9999)
	}
	return e
}
