//go:build linux

package guard

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// credentials are the rights that the kernel checks when a process uses a file (credentials(7), capabilities(7)).
type credentials struct {
	uid, gid int    // of the file system
	groups   string // supplementary ones, separated by spaces, in order
	caps     uint64 // effective ones of the fileCapabilities
	umask    uint32
}

// credentials returns those of a thread, as this process's user namespace has them.
func (t target) credentials(status *statusFile) (credentials, error) {
	buf, _ := statusBuffers.Get().(*[8 << 10]byte)
	defer statusBuffers.Put(buf)
	data, err := status.read(t.tid, buf[:])
	if err != nil {
		return credentials{}, unix.ESRCH
	}
	c, err := parseCredentials(data)
	if err != nil {
		return c, unix.ESRCH
	}
	// A capability in another user namespace says nothing about files of this one.
	if c.caps != 0 {
		own, err1 := os.Readlink("/proc/self/ns/user")
		its, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/user", t.tid))
		if err1 != nil || err2 != nil || own != its {
			c.caps = 0
		}
	}
	return c, nil
}

// fileCapabilities are those that change what a process may do with files.
const fileCapabilities = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER |
	1<<unix.CAP_FSETID | 1<<unix.CAP_LINUX_IMMUTABLE | 1<<unix.CAP_MKNOD

// inspect is the capability to read other processes in proc(5). The guard needs it to resolve the paths of a target.
const inspect = 1 << unix.CAP_SYS_PTRACE

// ownCredentials returns the credentials of this process. It does not read them from the thread group's leader, which
// can act as another caller.
func ownCredentials() (credentials, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return threadCredentials()
}

// statusBuffers are for the status files of processes, which are read for each call.
var statusBuffers = sync.Pool{New: func() any { return new([8 << 10]byte) }} //nolint:gochecknoglobals // a cache

// statusFile is the open status file of the thread that made the last call, because this thread often makes the next
// call, too. It belongs to that thread even if another thread gets its ID. The zero value is ready for use.
type statusFile struct {
	tid int // 0: none
	fd  int
}

// read reads the status file of a thread into buf.
func (s *statusFile) read(tid int, buf []byte) ([]byte, error) {
	if s.tid != 0 && s.tid == tid {
		if n, err := unix.Pread(s.fd, buf, 0); err == nil && n > 0 {
			return buf[:n], nil
		}
	}
	s.close()
	fd, err := unix.Open("/proc/"+strconv.Itoa(tid)+"/status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	s.tid, s.fd = tid, fd
	n, err := unix.Pread(fd, buf, 0)
	return buf[:max(n, 0)], err
}

func (s *statusFile) close() {
	if s.tid != 0 {
		_ = unix.Close(s.fd)
		s.tid = 0
	}
}

// threadCredentials returns those of the calling thread.
func threadCredentials() (credentials, error) {
	buf, _ := statusBuffers.Get().(*[8 << 10]byte)
	defer statusBuffers.Put(buf)
	var status statusFile
	defer status.close()
	data, err := status.read(unix.Gettid(), buf[:])
	if err != nil {
		return credentials{}, err
	}
	return parseCredentials(data)
}

// parseCredentials parses a status file (proc_pid_status(5)).
func parseCredentials(data []byte) (credentials, error) {
	c := credentials{uid: -1, gid: -1}
	seen := 0
	for len(data) > 0 && seen < statusFields {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		name, value, _ := bytes.Cut(line, []byte(":"))
		known := true
		var err error
		switch string(name) {
		case "Uid":
			c.uid, err = fileSystemID(strings.Fields(string(value)))
		case "Gid":
			c.gid, err = fileSystemID(strings.Fields(string(value)))
		case "Groups":
			fields := strings.Fields(string(value))
			slices.Sort(fields)
			c.groups = strings.Join(fields, " ")
		case "CapEff":
			c.caps, err = strconv.ParseUint(string(bytes.TrimSpace(value)), 16, 64)
			c.caps &= fileCapabilities
		case "Umask":
			var mask uint64
			mask, err = strconv.ParseUint(string(bytes.TrimSpace(value)), 8, 32)
			c.umask = uint32(mask)
		default:
			known = false
		}
		if err != nil {
			return c, err
		}
		if known {
			seen++
		}
	}
	if seen != statusFields {
		return c, unix.EINVAL
	}
	return c, nil
}

// statusFields is the number of lines of a status file that have credentials.
const statusFields = 5

// fileSystemID is the last of the real, effective, saved and file system ID.
func fileSystemID(fields []string) (int, error) {
	if len(fields) != 4 {
		return -1, unix.EINVAL
	}
	return strconv.Atoi(fields[3])
}

// callers runs calls with the credentials of the threads that requested them: a guard with more rights than a command
// must not use them for paths that the command names.
type callers struct {
	own     func() (credentials, error)
	threads map[credentials]*caller
	// capabilities returns the capabilities of this process's threads.
	capabilities func() ([2]unix.CapUserData, error)
	// separate: the caller threads have their own umask.
	separate bool
	// lasting: the thread that calls run is locked, and has the rights of the last caller until restore or another call.
	lasting bool
	acting  *acting // nil: the thread has its own rights
}

// acting are the credentials that a thread has assumed.
type acting struct {
	c, own credentials
	before [2]unix.CapUserData
}

// caller is a thread with the credentials of some commands.
type caller struct {
	calls chan func()
	ended chan struct{}
}

// maxCallers bounds the threads. The commands of one sandbox have the same credentials, unless they own a user
// namespace.
const maxCallers = 16

func newCallers() *callers {
	return &callers{
		own:     sync.OnceValues(ownCredentials),
		threads: map[credentials]*caller{},
		capabilities: sync.OnceValues(func() (data [2]unix.CapUserData, err error) {
			err = unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &data[0])
			return data, err
		}),
	}
}

// separateUmask gives the calling thread its own umask if unshare(2) is allowed; seccomp profiles of containers may
// refuse it.
func (g *Guard) separateUmask() {
	g.ownFS = separateFS() == nil
	if own, err := g.callers.own(); err == nil {
		g.umask = own.umask
	}
	g.callers.separate = g.ownFS
}

// separateFS gives the calling thread its own umask and its own working directory, the root directory.
func separateFS() error {
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	return unix.Chdir("/")
}

// run calls f with the rights of c, and waits for it. It is not for concurrent use.
func (s *callers) run(c credentials, f func() error) error {
	own, err := s.own()
	if err != nil {
		return unix.EACCES
	}
	c.caps &= own.caps
	c.umask = own.umask // f applies the umask itself
	if c == own {
		s.restore()
		return f()
	}
	if c.groups == own.groups {
		return s.actAs(c, own, f)
	}
	s.restore()
	thread := s.threads[c]
	if thread == nil {
		if len(s.threads) >= maxCallers {
			return unix.EACCES
		}
		if thread, err = s.newCaller(c); err != nil {
			return unix.EACCES
		}
		s.threads[c] = thread
	}
	done := make(chan error)
	thread.calls <- func() { done <- f() }
	return <-done
}

// actAs calls f with the credentials c on the calling thread, which has the credentials own. Both have the same groups.
func (s *callers) actAs(c, own credentials, f func() error) error {
	if s.acting != nil && s.acting.c == c {
		return f()
	}
	s.restore()
	if !s.lasting {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer s.restore()
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	before, err := s.capabilities()
	if err != nil {
		return unix.EACCES
	}
	s.acting = &acting{c, own, before}
	during := before
	for i := range during {
		during[i].Effective = uint32(c.caps>>(32*i))&before[i].Permitted | uint32(uint64(inspect)>>(32*i))&before[i].Effective
	}
	// The kernel removes capabilities from a thread whose file system UID stops being 0, so set them last.
	if c.uid != own.uid || c.gid != own.gid {
		if err := setFileSystemIDs(c.uid, c.gid); err != nil {
			s.restore()
			return err
		}
	}
	if err := unix.Capset(&header, &during[0]); err != nil {
		s.restore()
		return unix.EACCES
	}
	return f()
}

// restore gives the calling thread, which calls run, its own rights again.
func (s *callers) restore() {
	was := s.acting
	if was == nil {
		return
	}
	s.acting = nil
	if was.c.uid != was.own.uid || was.c.gid != was.own.gid {
		_ = setFileSystemIDs(was.own.uid, was.own.gid) // the thread had these IDs before
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	_ = unix.Capset(&header, &was.before[0]) // the capabilities are still permitted
}

// setFileSystemIDs sets the IDs of the calling thread. setfsuid(2) reports no errors, only the previous ID.
func setFileSystemIDs(uid, gid int) error {
	_, _ = unix.SetfsgidRetGid(gid)
	_, _ = unix.SetfsuidRetUid(uid)
	gidNow, err1 := unix.SetfsgidRetGid(-1)
	uidNow, err2 := unix.SetfsuidRetUid(-1)
	if err1 != nil || err2 != nil || gidNow != gid || uidNow != uid {
		return unix.EACCES
	}
	return nil
}

// runAside is run on a new thread, for a call that may block for long. It is safe for concurrent use.
func (s *callers) runAside(c credentials, f func() error) error {
	own, err := s.own()
	if err != nil {
		return unix.EACCES
	}
	c.caps &= own.caps
	c.umask = own.umask
	if c == own {
		return f()
	}
	done := make(chan error)
	startOnOwnThread(func() {
		if assumeCredentials(c) != nil {
			done <- unix.EACCES
			return
		}
		done <- f()
	})
	return <-done
}

// close ends the threads.
func (s *callers) close() {
	for _, thread := range s.threads {
		close(thread.calls)
		<-thread.ended
	}
	clear(s.threads)
}

func (s *callers) newCaller(c credentials) (*caller, error) {
	thread := &caller{calls: make(chan func()), ended: make(chan struct{})}
	ready := make(chan error)
	startOnOwnThread(func() {
		defer close(thread.ended)
		err := assumeCredentials(c)
		if err == nil && s.separate {
			err = separateFS()
		}
		ready <- err
		if err != nil {
			return
		}
		for call := range thread.calls {
			call()
		}
	})
	return thread, <-ready
}

// startOnOwnThread starts f on a thread that ends with it. The main thread would not end.
func startOnOwnThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			f()
			return // never unlocked
		}
		defer runtime.UnlockOSThread()
		begun := make(chan struct{})
		startOnOwnThread(func() {
			close(begun)
			f()
		})
		<-begun // until then the main thread is taken
	}()
}

// assumeCredentials gives the calling thread, and no other, the credentials c, and checks that it has them.
func assumeCredentials(c credentials) error {
	now, err := threadCredentials()
	if err != nil {
		return err
	}
	if now.groups != c.groups {
		if err := setGroups(c.groups); err != nil {
			return err
		}
	}
	if now.gid != c.gid {
		_, _ = unix.SetfsgidRetGid(c.gid) // their results are useless; see below
	}
	if now.uid != c.uid {
		_, _ = unix.SetfsuidRetUid(c.uid)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	for i := range data {
		half := uint32(c.caps >> (32 * i))
		data[i] = unix.CapUserData{Effective: half, Permitted: half}
	}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return err
	}
	if now, err = threadCredentials(); err != nil {
		return err
	}
	if now.umask = c.umask; now != c {
		return unix.EPERM
	}
	return nil
}

// setGroups sets the groups of the calling thread. The C library and Go set those of all threads.
func setGroups(list string) error {
	var groups []uint32
	for field := range strings.FieldsSeq(list) {
		n, err := strconv.ParseUint(field, 10, 32)
		if err != nil {
			return err
		}
		groups = append(groups, uint32(n))
	}
	_, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(unsafe.SliceData(groups))), 0)
	if errno != 0 {
		return errno
	}
	return nil
}
