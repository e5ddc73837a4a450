//go:build linux

package guard

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// threads are threads of commands whose credentials can never change, so that the guard reads them only once. Such a
// thread has no capabilities, its user IDs are all the same, and so are its group IDs. Programs that it executes get no
// more rights, and the seccomp program refuses user namespaces (credentials(7), capabilities(7), prctl(2)). Only its
// umask can change, with umask(2), which the kernel reports to the guard. Only Serve uses it.
type threads struct {
	known  []*thread
	calls  uint64 // number of calls of credentials, to find the least recently used thread
	umasks umasks
	never  bool // remember no thread: commands can make user namespaces, and get capabilities in them
	roots  bool // remember the root directories: no command can change its own
}

// thread is a thread with known credentials.
type thread struct {
	tid    int
	dir    int // its open directory in proc(5), which never becomes that of another thread with the same ID
	root   int // its root directory; -1: not opened
	c      credentials
	umasks uint64 // the number of calls of umask(2) when c.umask was read; unread: read it again
	used   uint64
}

const (
	// maxThreads bounds the threads, because commands can start any number and each takes two descriptors.
	maxThreads = 32
	unread     = ^uint64(0)
)

// credentials returns the credentials of a target. It also sets the target's field known. It calls restore before it
// reads a thread for the first time, because the guard may still have the rights of another command.
func (s *threads) credentials(t *target, status *statusFile, restore func()) (credentials, error) {
	s.calls++
	k := s.find(t)
	if k == nil {
		if restore(); !s.never {
			k = s.add(t)
		}
	}
	if k == nil {
		return t.credentials(status)
	}
	k.used = s.calls
	if k.umasks != s.umasks.calls {
		if err := s.readUmask(k); err != nil {
			s.forget(t)
			return credentials{}, unix.ESRCH
		}
	}
	return k.c, nil
}

// find returns the known thread of a target, unless another thread has its ID now.
func (s *threads) find(t *target) *thread {
	for i, k := range s.known {
		if k.tid != t.tid {
			continue
		}
		cwd, err := readlinkat(k.dir, "cwd")
		if err == nil {
			t.known, t.cwd = k, cwd
			return k
		}
		k.close()
		s.known = append(s.known[:i], s.known[i+1:]...)
		return nil
	}
	return nil
}

// add adds the thread of a target if its credentials cannot change; else it returns nil.
func (s *threads) add(t *target) *thread {
	dir, err := unix.Open("/proc/"+strconv.Itoa(t.tid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	k := &thread{tid: t.tid, dir: dir, root: -1, umasks: unread}
	var buf [8 << 10]byte
	data, err := readStatus(dir, buf[:])
	if err == nil {
		k.c, err = parseCredentials(data)
	}
	cwd := ""
	if err == nil && areSettled(data) {
		cwd, err = readlinkat(dir, "cwd")
	}
	if err != nil || cwd == "" {
		k.close()
		return nil
	}
	if len(s.known) == maxThreads {
		s.removeOldest()
	}
	s.known = append(s.known, k)
	t.known, t.cwd = k, cwd
	return k
}

func (s *threads) removeOldest() {
	oldest := 0
	for i, k := range s.known {
		if k.used < s.known[oldest].used {
			oldest = i
		}
	}
	s.known[oldest].close()
	s.known[oldest] = s.known[len(s.known)-1]
	s.known = s.known[:len(s.known)-1]
}

func (s *threads) forget(t *target) {
	for i, k := range s.known {
		if k == t.known {
			k.close()
			s.known = append(s.known[:i], s.known[i+1:]...)
			break
		}
	}
	t.known, t.cwd = nil, ""
}

// readUmask reads the umask of a thread, and stores it if no call of umask(2) is in progress.
func (s *threads) readUmask(k *thread) error {
	settled := s.umasks.areSettled()
	var buf [8 << 10]byte
	data, err := readStatus(k.dir, buf[:])
	if err != nil {
		return err
	}
	c, err := parseCredentials(data)
	if err != nil {
		return err
	}
	k.c.umask, k.umasks = c.umask, unread
	if settled {
		k.umasks = s.umasks.calls
	}
	return nil
}

// openRoot opens the root directory of a target, and returns whether the caller must close it.
func (s *threads) openRoot(t target) (root int, closes bool, err error) {
	k := t.known
	if k != nil && k.root >= 0 {
		return k.root, false, nil
	}
	if k == nil {
		root, err = unix.Open(t.proc(rootLink), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	} else {
		root, err = unix.Openat(k.dir, "root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	}
	if err == nil && k != nil && s.roots {
		k.root = root
		return root, false, nil
	}
	return root, true, errnoOf(err)
}

func (s *threads) close() {
	for _, k := range s.known {
		k.close()
	}
	s.known = nil
}

func (k *thread) close() {
	_ = unix.Close(k.dir)
	if k.root >= 0 {
		_ = unix.Close(k.root)
	}
}

// readStatus reads the status file in a thread's directory in proc(5).
func readStatus(dir int, buf []byte) ([]byte, error) {
	fd, err := unix.Openat(dir, "status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := unix.Pread(fd, buf, 0)
	return buf[:max(n, 0)], err
}

// areSettled reports whether the credentials in a status file can never change (proc_pid_status(5)).
func areSettled(status []byte) bool {
	met := 0
	for line := range bytes.Lines(status) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		fields := strings.Fields(string(value))
		switch string(name) {
		case "Uid", "Gid":
			if len(fields) != 4 || fields[0] != fields[1] || fields[0] != fields[2] || fields[0] != fields[3] {
				return false
			}
		case "CapInh", "CapPrm", "CapEff", "CapAmb":
			if len(fields) != 1 || strings.Trim(fields[0], "0") != "" {
				return false
			}
		case "NoNewPrivs":
			if len(fields) != 1 || fields[0] != "1" {
				return false
			}
		default:
			continue
		}
		met++
	}
	const conditions = 7
	return met == conditions
}

// umasks are the calls of umask(2). The kernel executes them after the guard has let them proceed. Until then the umask
// of the threads that share it is about to change.
type umasks struct {
	calls   uint64
	pending []umaskCall // calls that the kernel may not have executed yet
	lost    bool        // there were too many calls
}

type umaskCall struct {
	tid  int
	mask uint32
}

// maxUmasks bounds the concurrent calls of umask(2), because commands can make any number.
const maxUmasks = 32

// report records that a thread calls umask(2).
func (u *umasks) report(tid int, mask uint32) {
	u.calls++
	if len(u.pending) >= maxUmasks {
		u.lost = true // umasks are not stored from now on
		return
	}
	u.pending = append(u.pending, umaskCall{tid, mask & 0o777})
}

// returned records that a thread makes another call, so that its call of umask(2) is over.
func (u *umasks) returned(tid int) {
	for i, p := range u.pending {
		if p.tid == tid {
			u.pending = append(u.pending[:i], u.pending[i+1:]...)
			return // a thread makes one call at a time
		}
	}
}

// areSettled reports whether the kernel has executed all calls. A thread that is gone executes none. A single call is
// over if the umask has its value; of several calls, each could still replace the value of another one.
func (u *umasks) areSettled() bool {
	alone := len(u.pending) == 1
	left := u.pending[:0]
	for _, p := range u.pending {
		text, err := target{tid: p.tid}.status("Umask")
		if err != nil {
			continue
		}
		if mask, err := strconv.ParseUint(text, 8, 32); alone && err == nil && uint32(mask) == p.mask {
			continue
		}
		left = append(left, p)
	}
	u.pending = left
	return !u.lost && len(u.pending) == 0
}
