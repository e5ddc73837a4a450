//go:build linux

package guard

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// bindIn binds a new socket to name in dir, for a target that has given a path, and returns the path that the kernel
// has stored.
func bindIn(t *testing.T, names *boundNames, dir, name, given string) string {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	must(t, err)
	defer unix.Close(fd)
	sock := socketOf(t)
	must(t, names.bind(sock, given, entry{dir: fd, path: dir, name: name}, false))
	a, err := unix.Getsockname(sock)
	must(t, err)
	return a.(*unix.SockaddrUnix).Name
}

func socketOf(t *testing.T) int {
	t.Helper()
	sock, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	t.Cleanup(func() { _ = unix.Close(sock) })
	return sock
}

func Test_Bound_Names_Are_The_Given_Ones_Even_Without_A_Separate_Working_Directory(t *testing.T) {
	var names boundNames
	one, two := t.TempDir(), t.TempDir()
	made := map[string]string{}
	for _, dir := range []string{one, two} {
		for _, name := range []string{"a", "b", strings.Repeat("n", 80)} {
			given := dir[len(dir)-3:] + "/" + name
			made[given] = bindIn(t, &names, dir, name, given)
			if st, err := os.Lstat(dir + "/" + name); err != nil || st.Mode().Type() != os.ModeSocket {
				t.Errorf("%s: %v, %v", given, st, err)
			}
		}
	}
	for given, made := range made {
		if got, ok := names.given(made); !ok || got != given {
			t.Errorf("the path given for %q: %q, %v, want %q", made, got, ok, given)
		}
	}
}

func Test_Bound_Names_Are_Bounded(t *testing.T) {
	var names boundNames
	for i := range 2 * maxBound {
		names.remember(boundName{given: strconv.Itoa(i), made: names.mark()})
	}
	if len(names.names) != maxBound {
		t.Errorf("%d names, want %d", len(names.names), maxBound)
	}
	seen := map[string]bool{}
	for _, n := range names.names {
		if i, err := strconv.Atoi(n.given); err != nil || i < maxBound || seen[n.made] {
			t.Errorf("%+v: forgotten too late, or like another", n)
		}
		seen[n.made] = true
	}
}
