package hostfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const appending = os.O_WRONLY | os.O_APPEND | os.O_CREATE

// scene is a tree in which commands can write, with the user's own files outside of it.
func scene(t *testing.T) (tree, own string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tree, own = filepath.Join(top, "tree"), filepath.Join(top, "own")
	for _, dir := range []string{tree, own, filepath.Join(tree, "sub")} {
		must(t, os.Mkdir(dir, 0o755))
	}
	must(t, os.WriteFile(filepath.Join(own, "rc"), []byte("mine\n"), 0o600))
	return tree, own
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func Test_Links_That_Commands_Can_Make_Are_Not_Followed(t *testing.T) {
	t.Parallel()
	tree, own := scene(t)
	must(t, os.Symlink(filepath.Join(own, "rc"), filepath.Join(tree, "file")))
	must(t, os.Symlink("sub", filepath.Join(tree, "inner")))
	must(t, os.Symlink(own, filepath.Join(tree, "dir")))
	must(t, os.Symlink(filepath.Join(own, "new"), filepath.Join(tree, "dangling")))
	must(t, os.Symlink(tree, filepath.Join(own, "way")))
	for _, name := range []string{"file", "inner/new", "dir/rc", "dir/new", "dangling", "sub/../dir/rc", "../own/way/dir/rc"} {
		f, err := hostfile.Open(tree+"/"+name, appending, 0o600, hostfile.Below(tree))
		if err == nil {
			_ = f.Close()
			t.Errorf("%s was opened", name)
			continue
		}
		if sandbox.CodeOf(err) != sandbox.Denied || sandbox.HintOf(err) == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v (%s)", name, err, sandbox.HintOf(err))
		}
		if root, base, err := hostfile.OpenParent(tree+"/"+name, true, hostfile.Below(tree)); err == nil {
			t.Errorf("the parent of %s was opened: %s", name, base)
			_ = root.Close()
		}
	}
	if root, err := hostfile.OpenDir(tree+"/dir", hostfile.Below(tree)); err == nil {
		t.Error("the directory behind a link was opened")
		_ = root.Close()
	}
	if _, err := os.Lstat(filepath.Join(own, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was created behind a link: %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(own, "rc")); err != nil || string(data) != "mine\n" {
		t.Errorf("the user's file has %q, %v", data, err)
	}
}

func Test_The_Users_Own_Links_Are_Followed(t *testing.T) {
	t.Parallel()
	tree, own := scene(t)
	must(t, os.Symlink("rc", filepath.Join(own, "relative")))
	must(t, os.Symlink(filepath.Join(tree, "sub"), filepath.Join(own, "way")))
	must(t, os.Symlink("new", filepath.Join(own, "dangling")))
	must(t, os.Symlink("../own/./relative", filepath.Join(own, "twice")))
	for name, want := range map[string]string{
		"relative": own + "/rc", "twice": own + "/rc", "way/file": tree + "/sub/file", "dangling": own + "/new", "way/../again": tree + "/again",
	} {
		f, err := hostfile.Open(own+"/"+name, appending, 0o600, hostfile.Below(tree))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		opened, err := f.Stat()
		must(t, err)
		must(t, f.Close())
		if info, err := os.Lstat(want); err != nil || !os.SameFile(opened, info) {
			t.Errorf("%s does not lead to %s: %v", name, want, err)
		}
	}
}

func Test_Only_Regular_Files_Are_Opened(t *testing.T) {
	t.Parallel()
	tree, own := scene(t)
	for _, dir := range []string{tree, own} {
		must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
		for _, name := range []string{"fifo", ""} {
			for _, flags := range []int{os.O_RDONLY, appending} {
				f, err := hostfile.Open(filepath.Join(dir, name), flags, 0o600, hostfile.Below(tree))
				if err == nil {
					_ = f.Close()
					t.Errorf("%s/%s was opened", dir, name)
				} else if !strings.Contains(err.Error(), "expected a regular file") {
					t.Errorf("%s/%s: %v", dir, name, err)
				}
			}
		}
		root, err := os.OpenRoot(dir)
		must(t, err)
		if _, err := hostfile.ReadIn(root, "fifo", 1); err == nil {
			t.Errorf("the FIFO in %s was read", dir)
		}
		must(t, root.Close())
	}
	f, err := hostfile.Open(os.DevNull, appending, 0o600, hostfile.Below(tree))
	must(t, err)
	must(t, f.Close())
}

func Test_A_Descriptor_Of_This_Process_Has_A_Name(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	name := filepath.Join("/dev/fd", strconv.Itoa(int(w.Fd())))
	f, err := hostfile.Open(name, appending, 0o600, hostfile.Below("/"))
	must(t, err)
	_, err = f.WriteString("x")
	must(t, errors.Join(err, f.Close(), w.Close()))
	if n, err := r.Read(make([]byte, 2)); n != 1 || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
}

func Test_An_Opened_Directory_Is_The_One_That_Was_Checked(t *testing.T) {
	t.Parallel()
	tree, own := scene(t)
	root, base, err := hostfile.OpenParent(tree+"/sub/file", true, hostfile.Below(tree))
	must(t, err)
	defer root.Close()
	must(t, os.Rename(tree+"/sub", tree+"/moved"))
	must(t, os.Symlink(own, tree+"/sub"))
	must(t, hostfile.ReplaceIn(root, base, []byte("text")))
	if _, err := os.Lstat(own + "/file"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file was written behind the link: %v", err)
	}
	if data, err := os.ReadFile(tree + "/moved/file"); err != nil || string(data) != "text" {
		t.Errorf("the file has %q, %v", data, err)
	}
}
