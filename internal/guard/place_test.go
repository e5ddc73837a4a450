//go:build linux

package guard

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func Test_A_Planted_Link_Is_Found_And_Not_Followed(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, dir := range []string{"outside/.ssh", "work/deep/real/.ssh"} {
		must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	must(t, os.Symlink(filepath.Join(root, "outside"), filepath.Join(root, "work/deep/link")))
	for _, c := range []struct{ name, dir, path, moved string }{
		{"a name that is there", "work/deep/real", "work/deep/real/.ssh", "work/deep/moved"},
		{"a link on the way", "work/deep/link", "work/deep/link", "work/deep/moved"},
		{"a link further up", "work/deep/link/more/below", "work/deep/link", "work/deep/moved"},
		{"no name", "work/deep", "", ""},
		{"no directory", "work/none/at/all", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _, ok := place{filepath.Join(root, c.dir), ".ssh"}.find()
			if ok != (c.path != "") {
				t.Fatalf("found: %v", ok)
			}
			if !ok {
				return
			}
			defer a.close()
			if want := filepath.Join(root, c.path); a.Path != want {
				t.Errorf("path %s, want %s", a.Path, want)
			}
			to, err := unix.Open(filepath.Join(root, filepath.Dir(c.moved)), unix.O_PATH|unix.O_CLOEXEC, 0)
			must(t, err)
			defer unix.Close(to)
			must(t, a.MoveTo(to, filepath.Base(c.moved)))
			_, err = os.Lstat(filepath.Join(root, c.moved))
			must(t, err)
			_, err = os.Lstat(filepath.Join(root, "outside/.ssh"))
			must(t, err)
			must(t, os.Rename(filepath.Join(root, c.moved), filepath.Join(root, c.path)))
		})
	}
}

func Test_Credentials_Of_A_Thread_Are_Those_It_Has_Become(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give up rights that a command lacks")
	}
	own, err := ownCredentials()
	must(t, err)
	for _, groups := range []string{own.groups, "1236 1237"} {
		c := own
		c.uid, c.gid, c.groups, c.caps = 1234, 1235, groups, 0
		checkCredentials(t, own, c)
	}
}

func checkCredentials(t *testing.T, own, c credentials) {
	t.Helper()
	newCallers := func() *callers {
		s := newCallers()
		t.Cleanup(s.close)
		return s
	}
	file := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(file, nil, 0o600))
	var err error
	// The loop runs one after the other: the guard must not mistake a thread of an
	// earlier round for this process.
	for range 20 {
		err = newCallers().run(c, func() error { _, err := os.Open(file); return err })
		if !os.IsPermission(err) {
			t.Fatalf("opened a file of root: %v", err)
		}
	}
	s := newCallers()
	err = s.run(c, func() error {
		if now, err := threadCredentials(); err != nil || now != c {
			t.Errorf("%+v, %v; want %+v", now, err, c)
		}
		_, err := os.Open(file)
		return err
	})
	if !os.IsPermission(err) {
		t.Errorf("opened a file of root: %v", err)
	}
	must(t, s.run(own, func() error { _, err := os.Stat(file); return err }))
	if now, err := ownCredentials(); err != nil || now != own {
		t.Errorf("the process has %+v, %v", now, err)
	}
}

func Test_Rights_That_Do_Not_Concern_Files_Change_Nothing(t *testing.T) {
	s := newCallers()
	defer s.close()
	own, err := ownCredentials()
	must(t, err)
	ran := false
	must(t, s.run(own, func() error { ran = true; return nil }))
	if !ran || len(s.threads) != 0 || own.caps&^fileCapabilities != 0 {
		t.Errorf("ran %v, %d threads, capabilities %x", ran, len(s.threads), own.caps)
	}
}
