//go:build linux

package host

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// scriptFile writes an executable shell script.
func scriptFile(t *testing.T, path, script string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func Test_Find_Rejects_Planted_Programs(t *testing.T) {
	require.Command(t, "bwrap", "bwrap")
	installed, err := Find(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	work := openDir(t)
	scriptFile(t, filepath.Join(work, "bin", "bwrap"), "exit 0")
	link := openDir(t)
	if err := os.Symlink(filepath.Join(work, "bin"), filepath.Join(link, "bin")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, file string
		forbid     []string
		why        string // empty: it is trusted
	}{
		{"one of our own", filepath.Join(work, "bin/bwrap"), nil, ""},
		{"one in the workspace", filepath.Join(work, "bin/bwrap"), []string{"/nowhere", work}, "it is below " + work},
		{"a link into the workspace", filepath.Join(link, "bin/bwrap"), []string{work}, "it is below " + work},
		{"a link of the workspace's", filepath.Join(link, "bin/bwrap"), []string{link}, "it is below " + link},
		{"a directory whose name begins with the workspace's", filepath.Join(work, "bin/bwrap"), []string{work[:len(work)-1]}, ""},
		{"the installed one", installed, []string{work}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			real, err := filepath.EvalSymlinks(tt.file)
			if err != nil {
				t.Fatal(err)
			}
			if got := findDistrust(tt.file, real, tt.forbid); got != tt.why {
				t.Errorf("got %q, want %q", got, tt.why)
			}
		})
	}
}

func Test_Find_Names_The_Directory_That_Commands_Could_Write_To(t *testing.T) {
	require.Command(t, "bwrap", "bwrap")
	_, err := Find([]string{"/usr/bin"}, []string{"/usr"})
	if sandbox.CodeOf(err) != sandbox.Unavailable || strings.Count(err.Error(), "/usr/bin/bwrap (it is below /usr)") != 1 {
		t.Errorf("%v", err)
	}
	if hint := sandbox.HintOf(err); !strings.Contains(hint, "commands could write to /usr,") || !strings.Contains(hint, "-C") {
		t.Errorf("the hint is %q", hint)
	}
}

func Test_Find_Rejects_Programs_That_Others_Can_Write(t *testing.T) {
	tests := []struct {
		name string
		mode os.FileMode
		dir  os.FileMode
		why  string
	}{
		{"a file for all", 0o757, 0o755, "every user can write"},
		{"a directory for all", 0o755, 0o757, "every user can write"},
		{"a directory for all, with the sticky bit", 0o755, 0o757 | os.ModeSticky, "every user can write"},
		{"a file that cannot be executed", 0o644, 0o755, "cannot be executed"},
		{"a private one", 0o700, 0o700, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := scriptFile(t, filepath.Join(openDir(t), "d", "bwrap"), "exit 0")
			if err := errors.Join(os.Chmod(file, tt.mode), os.Chmod(filepath.Dir(file), tt.dir)); err != nil {
				t.Fatal(err)
			}
			got := findDistrust(file, file, nil)
			if (got == "") != (tt.why == "") || !strings.Contains(got, tt.why) {
				t.Errorf("got %q, want %q", got, tt.why)
			}
		})
	}
	t.Run("a file of another user", func(t *testing.T) {
		needRoot(t)
		file := scriptFile(t, filepath.Join(openDir(t), "bwrap"), "exit 0")
		if err := os.Chown(file, 1000, 1000); err != nil {
			t.Fatal(err)
		}
		if got := findDistrust(file, file, nil); !strings.Contains(got, "belongs to user 1000") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a shared group", func(t *testing.T) {
		needRoot(t)
		file := scriptFile(t, filepath.Join(openDir(t), "bwrap"), "exit 0")
		if err := errors.Join(os.Chown(file, 0, 50), os.Chmod(file, 0o775)); err != nil {
			t.Fatal(err)
		}
		if got := findDistrust(file, file, nil); !strings.Contains(got, "group 50 can write") {
			t.Errorf("got %q", got)
		}
	})
}

func Test_Probe_Reads_The_Installed_Bubblewrap(t *testing.T) {
	require.Command(t, "bwrap", "bwrap")
	path, err := Find(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Probe(t.Context(), path, "")
	if err != nil || f.Usable(path) != nil || !f.DisableUserns {
		t.Errorf("got %+v, %v, %v", f, err, f.Usable(path))
	}
	if v := bwrapVersion(t.Context(), path); !strings.HasPrefix(v, "0.") && !strings.HasPrefix(v, "1.") {
		t.Errorf("version %q", v)
	}
}

func Test_Probe_Asks_Once_For_The_Same_File(t *testing.T) {
	dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "new", "dir")
	log := filepath.Join(dir, "log")
	path := scriptFile(t, filepath.Join(dir, "bwrap"), "echo x >>"+log+"\necho '    --bind SRC DEST  Bind'\necho '    --disable-userns  Disable'\necho ' not --size'")
	asked := func() int {
		b, _ := os.ReadFile(log)
		return len(b) / 2
	}
	first, err := Probe(t.Context(), path, cache)
	if err != nil || !first.DisableUserns || first.BindFD || asked() != 1 {
		t.Fatalf("got %+v, %v, asked %d times", first, err, asked())
	}
	again, err := Probe(t.Context(), path, cache)
	if err != nil || !reflect.DeepEqual(first, again) || asked() != 1 {
		t.Errorf("got %+v, %v, asked %d times", again, err, asked())
	}
	if err := first.Usable(path); !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "--size") || strings.Contains(err.Error(), "--bind,") {
		t.Errorf("got %v", err)
	}
	t.Run("a forged cache does not count", func(t *testing.T) {
		if err := os.Chmod(filepath.Join(cache, probeFile), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Probe(t.Context(), path, cache); err != nil || asked() != 2 {
			t.Errorf("%v, asked %d times", err, asked())
		}
	})
	t.Run("a cache that is not whole does not count", func(t *testing.T) {
		file := filepath.Join(cache, probeFile)
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		key, err := strconv.Unquote(strings.SplitN(string(whole), "\n", 2)[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := cachedOptions(cache, key); !ok {
			t.Error("the whole one does not count")
		}
		for n := range len(whole) {
			if err := os.WriteFile(file, whole[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			if options, ok := cachedOptions(cache, key); ok {
				t.Fatalf("%d of %d bytes: got %q", n, len(whole), options)
			}
		}
	})
	t.Run("another file is asked", func(t *testing.T) {
		scriptFile(t, path, "echo x >>"+log+"\necho '    --bind-fd FD'\necho '    --ro-bind-fd FD'")
		f, err := Probe(t.Context(), path, cache)
		if err != nil || !f.BindFD || f.DisableUserns || asked() != 3 {
			t.Errorf("got %+v, %v, asked %d times", f, err, asked())
		}
	})
	t.Run("a cache that is a link does not count", func(t *testing.T) {
		file := filepath.Join(cache, probeFile)
		if err := errors.Join(os.Rename(file, file+"2"), os.Symlink(file+"2", file)); err != nil {
			t.Fatal(err)
		}
		if _, ok := cachedOptions(cache, ""); ok {
			t.Error("it was followed")
		}
	})
}

func Test_Probe_Fails_With_A_Reason(t *testing.T) {
	for name, path := range map[string]string{
		"no file":             filepath.Join(t.TempDir(), "bwrap"),
		"a program that dies": scriptFile(t, filepath.Join(t.TempDir(), "bwrap"), "exit 3"),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Probe(t.Context(), path, t.TempDir()); !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func Test_Probe_Sees_Set_User_ID(t *testing.T) {
	path := scriptFile(t, filepath.Join(t.TempDir(), "bwrap"), "echo '    --bind x'")
	if err := os.Chmod(path, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	f, err := Probe(t.Context(), path, "")
	if err != nil || !f.setuid || !strings.Contains(sandbox.HintOf(f.Usable(path)), "chmod u-s") {
		t.Errorf("got %+v, %v", f, err)
	}
}

func Test_Read_Status_And_Mounts(t *testing.T) {
	var f facts
	f.readStatus("Name:\tx\nCapEff:\t00000000a80425fb\nNoNewPrivs:\t1\nSeccomp:\t2\n")
	if f.seccomp != 2 || f.caps != 0xa80425fb {
		t.Errorf("got %+v", f)
	}
	f.readMounts("1 0 0:1 / / rw - overlay o rw\n2 1 0:2 / /proc rw - proc p rw\n" +
		"3 2 0:3 /null /proc/kcore rw - tmpfs t rw\n4 2 0:4 / /proc/sys/fs/binfmt_misc rw - binfmt_misc b rw\n")
	if f.chrooted || !reflect.DeepEqual(f.masked, []string{"/proc/kcore"}) {
		t.Errorf("got %+v", f)
	}
	f.readMounts("2 1 0:2 / /srv rw - ext4 d rw\n")
	if !f.chrooted {
		t.Error("a chroot was not seen")
	}
}

// openDir is a temporary directory that other users can reach.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
