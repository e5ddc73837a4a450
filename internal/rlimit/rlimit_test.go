//go:build linux

package rlimit

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// runPlain runs the calling test again in a process of a plain user, which may raise no limit, and reports whether this
// is that process. The limits that the test changes end with it.
func runPlain(t *testing.T) bool {
	t.Helper()
	if os.Getenv("RLIMIT_TEST") != "" {
		return true
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), "RLIMIT_TEST=1", "HOME=/tmp")
	cmd.Dir = "/"
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1000, Gid: 1000}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func set(t *testing.T, resource int, l unix.Rlimit) {
	t.Helper()
	if err := unix.Prlimit(0, resource, &l, nil); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, resource int, want unix.Rlimit) {
	t.Helper()
	var got unix.Rlimit
	if err := unix.Prlimit(0, resource, nil, &got); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func Test_A_Lower_Limit_Of_A_Plain_User_Stays(t *testing.T) {
	if !runPlain(t) {
		return
	}
	// Each row only lowers the limits of the row before.
	for _, row := range []struct {
		resource int
		before   unix.Rlimit
		lower    uint64
		after    unix.Rlimit
	}{
		{unix.RLIMIT_FSIZE, unix.Rlimit{Cur: 9 << 20, Max: 9 << 20}, 8 << 20, unix.Rlimit{Cur: 8 << 20, Max: 8 << 20}},
		{unix.RLIMIT_FSIZE, unix.Rlimit{Cur: 4 << 20, Max: 8 << 20}, 6 << 20, unix.Rlimit{Cur: 4 << 20, Max: 6 << 20}},
		{unix.RLIMIT_FSIZE, unix.Rlimit{Cur: 4 << 20, Max: 4 << 20}, 6 << 20, unix.Rlimit{Cur: 4 << 20, Max: 4 << 20}},
		{unix.RLIMIT_MSGQUEUE, unix.Rlimit{}, 1, unix.Rlimit{}},
	} {
		set(t, row.resource, row.before)
		if err := Lower(0, row.resource, row.lower); err != nil {
			t.Errorf("%+v to %d: %v", row.before, row.lower, err)
		}
		check(t, row.resource, row.after)
	}
}

func Test_A_Hard_Core_Limit_Of_Zero_Stays_For_A_Plain_User(t *testing.T) {
	if !runPlain(t) {
		return
	}
	set(t, unix.RLIMIT_CORE, unix.Rlimit{Cur: 0, Max: 2})
	for _, row := range []struct{ max, want uint64 }{{2, 1}, {0, 0}} {
		set(t, unix.RLIMIT_CORE, unix.Rlimit{Cur: 0, Max: min(row.max, hardCore(t))})
		if err := SuppressCore(os.Getpid()); err != nil {
			t.Errorf("hard limit of %d: %v", row.max, err)
		}
		check(t, unix.RLIMIT_CORE, unix.Rlimit{Cur: row.want, Max: row.want})
	}
}

func hardCore(t *testing.T) uint64 {
	t.Helper()
	var l unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_CORE, nil, &l); err != nil {
		t.Fatal(err)
	}
	return l.Max
}
