//go:build linux

package guard

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func Test_A_Socket_Behind_A_Read_Only_Mount_Is_Not_Reported_As_Refused(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mknod(filepath.Join(dir, "socket"), unix.S_IFSOCK|0o600, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for name, want := range map[string]int{"file": 1, "fifo": 1, "socket": 0} {
		rules := Rules{Rest: ReadOnly}
		g := New(Options{Rules: rules})
		g.rules = newRuleset(rules) // as Serve does
		g.observeEntry(opOpen, unix.O_WRONLY, entry{dir: fd, path: dir, name: name})
		if len(g.refusals) != want {
			t.Errorf("%s: %+v", name, g.refusals)
		}
	}
}
