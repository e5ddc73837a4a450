//go:build linux

package guard

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// testThread is a thread that changes its credentials, as a command's thread does.
type testThread struct {
	tid   int
	calls chan func() error
	done  chan error
}

func newTestThread(t *testing.T) *testThread {
	t.Helper()
	thread := &testThread{calls: make(chan func() error), done: make(chan error)}
	begun := make(chan int)
	startOnOwnThread(func() {
		begun <- unix.Gettid()
		for call := range thread.calls {
			thread.done <- call()
		}
	})
	thread.tid = <-begun
	t.Cleanup(func() { close(thread.calls) })
	return thread
}

func (w *testThread) do(t *testing.T, call func() error) {
	t.Helper()
	w.calls <- call
	must(t, <-w.done)
}

// settle removes the thread's capabilities, and forbids it to get others.
func (w *testThread) settle(t *testing.T) {
	t.Helper()
	w.do(t, func() error {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
		return dropCapabilities()
	})
}

func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &make([]unix.CapUserData, 2)[0])
}

// look returns the credentials of a thread, and whether they are stored.
func look(t *testing.T, s *threads, w *testThread) (credentials, bool) {
	t.Helper()
	var status statusFile
	defer status.close()
	its := target{tid: w.tid, threads: s}
	c, err := s.credentials(&its, &status, func() {})
	must(t, err)
	return c, its.known != nil && its.known.umasks == s.umasks.calls
}

func Test_Credentials_That_Can_Change_Are_Read_Again(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root has credentials that can change")
	}
	setGroup := func(group uint32) error {
		_, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 1, uintptr(unsafe.Pointer(&group)), 0)
		if errno != 0 {
			return errno
		}
		return nil
	}
	noNew := func() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }
	for _, c := range []struct {
		name          string
		first, second func() error
		want          credentials
	}{
		{
			"by a thread with capabilities", noNew,
			func() error {
				if err := setGroup(1236); err != nil {
					return err
				}
				return setFileSystemIDs(1234, 1235)
			},
			credentials{uid: 1234, gid: 1235, groups: "1236"},
		},
		{
			"by a thread without, to an ID that it has",
			func() error {
				if err := noNew(); err != nil {
					return err
				}
				if err := setFileSystemIDs(1234, 1235); err != nil {
					return err
				}
				return dropCapabilities()
			},
			func() error { return setFileSystemIDs(0, 0) },
			credentials{uid: 0, gid: 0},
		},
		{
			"by a thread whose effective capabilities are off", func() error {
				if err := noNew(); err != nil {
					return err
				}
				header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
				var data [2]unix.CapUserData
				if err := unix.Capget(&header, &data[0]); err != nil {
					return err
				}
				data[0].Effective, data[1].Effective = 0, 0
				return unix.Capset(&header, &data[0])
			},
			func() error {
				header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
				var data [2]unix.CapUserData
				if err := unix.Capget(&header, &data[0]); err != nil {
					return err
				}
				data[0].Effective = data[0].Permitted
				if err := unix.Capset(&header, &data[0]); err != nil {
					return err
				}
				return setFileSystemIDs(1234, 1235)
			},
			credentials{uid: 1234, gid: 1235},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, w := &threads{}, newTestThread(t)
			defer s.close()
			w.do(t, c.first)
			before, remembered := look(t, s, w)
			if remembered {
				t.Error("they are remembered")
			}
			w.do(t, c.second)
			now, _ := look(t, s, w)
			if now.uid != c.want.uid || now.gid != c.want.gid || c.want.groups != "" && now.groups != c.want.groups {
				t.Errorf("%+v, want %+v; before %+v", now, c.want, before)
			}
		})
	}
}

func Test_Credentials_Of_Programs_That_Can_Get_More_Are_Read_Again(t *testing.T) {
	w := newTestThread(t)
	w.do(t, dropCapabilities)
	s := &threads{}
	defer s.close()
	if _, remembered := look(t, s, w); remembered {
		t.Error("a thread that can execute set-user-ID programs is remembered")
	}
	w.settle(t)
	if _, remembered := look(t, s, w); !remembered {
		t.Error("a thread that cannot is not")
	}
	never := &threads{never: true}
	if _, remembered := look(t, never, w); remembered {
		t.Error("a thread that can make a user namespace is remembered")
	}
}

func Test_A_Thread_Is_Not_Taken_For_One_That_Had_Its_Number(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "cat")
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	ended, err := unix.Open("/proc/"+strconv.Itoa(cmd.Process.Pid), unix.O_PATH|unix.O_CLOEXEC, 0)
	must(t, err)
	must(t, in.Close())
	must(t, cmd.Wait())
	w := newTestThread(t)
	w.settle(t)
	s := &threads{known: []*thread{{tid: w.tid, dir: ended, root: -1, c: credentials{uid: 4321}}}}
	defer s.close()
	if c, _ := look(t, s, w); c.uid != os.Getuid() {
		t.Errorf("uid %d, want %d", c.uid, os.Getuid())
	}
}

func Test_An_Umask_Is_Remembered_Once_No_Call_Can_Change_It(t *testing.T) {
	old := unix.Umask(0o22)
	defer unix.Umask(old)
	s := &threads{}
	defer s.close()
	shared, other, own := newTestThread(t), newTestThread(t), newTestThread(t)
	own.do(t, func() error { return unix.Unshare(unix.CLONE_FS) })
	for _, w := range []*testThread{shared, own} {
		w.settle(t)
	}
	check := func(w *testThread, umask uint32, remembered bool) {
		t.Helper()
		c, is := look(t, s, w)
		if c.umask != umask || is != remembered {
			t.Errorf("umask %#o, remembered %v; want %#o, %v", c.umask, is, umask, remembered)
		}
	}
	set := func(w *testThread, mask int) { w.do(t, func() error { unix.Umask(mask); return nil }) }
	check(shared, 0o22, true)
	check(own, 0o22, true)

	s.umasks.report(other.tid, 0o77) // the kernel has not executed it
	check(shared, 0o22, false)
	check(shared, 0o22, false)
	set(other, 0o77)
	check(shared, 0o77, true)
	check(own, 0o22, true)

	s.umasks.report(own.tid, 0o27)
	set(own, 0o27)
	check(own, 0o27, true)
	check(shared, 0o77, true)

	// Of two concurrent calls, neither is over just because the umask has its value.
	s.umasks.report(other.tid, 0o2)
	s.umasks.report(shared.tid, 0o7)
	set(shared, 0o7)
	s.umasks.returned(shared.tid)
	check(shared, 0o7, false)
	set(other, 0o2)
	check(shared, 0o2, true)

	// A thread that makes another call has no call of umask(2) in progress.
	s.umasks.report(other.tid, 0o77)
	check(shared, 0o2, false)
	s.umasks.returned(other.tid)
	check(shared, 0o2, true)

	for range maxUmasks + 1 {
		s.umasks.report(other.tid, 0o2)
	}
	check(shared, 0o2, false)
}
