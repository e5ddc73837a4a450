package vfs_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// made is a generated tree: each file contains the caller and the file's name.
type made struct {
	who  string
	jump *vfs.File
}

func (m *made) Entry(name string) (vfs.Entry, error) {
	e := vfs.Entry{Info: vfs.Info{Mode: fs.ModeDir | 0o555, Nlink: 2, Ino: uint64(len(name))}}
	switch name {
	case ".", "dir", "locked":
		if name == "locked" {
			e.Info.Mode = fs.ModeDir | 0o700
		}
		return e, nil
	case "self":
		e.Info.Mode, e.Target = fs.ModeSymlink|0o777, "dir"
	case "out":
		e.Info.Mode, e.Target = fs.ModeSymlink|0o777, "/f"
	case "round":
		e.Info.Mode, e.Target = fs.ModeSymlink|0o777, "round"
	case "jump":
		e.Info.Mode, e.Target, e.Jump = fs.ModeSymlink|0o777, "file:[1]", true
	case "dir/file", "locked/file":
		e.Info.Mode = 0o444
	default:
		return e, &fs.PathError{Op: "look", Path: name, Err: syscall.ENOENT}
	}
	return e, nil
}

func (m *made) List(name string) ([]vfs.DirEntry, error) {
	if name == "dir" {
		return []vfs.DirEntry{{Name: "file"}}, nil
	}
	return []vfs.DirEntry{{Name: "dir", Mode: fs.ModeDir}, {Name: "self", Mode: fs.ModeSymlink}}, nil
}

func (m *made) Read(name string) ([]byte, error) {
	return []byte(m.who + " " + name + strings.Repeat(".", 200000)), nil
}
func (m *made) Stat(string) (vfs.Info, error) { return m.jump.Stat() }
func (m *made) Open(ctx context.Context, _ string, flag int) (*vfs.File, error) {
	return m.jump.Reopen(ctx, root, flag)
}

func generated(t *testing.T) (*vfs.FS, vfs.Cred) {
	t.Helper()
	f := vfs.New(vfs.Options{})
	want(t, f.Mkdir(root, "/made", 0o755), 0)
	want(t, f.Generate("/made"), 0)
	put(t, f, "/f", "text")
	put(t, f, "/made/hidden", "hidden")
	file, err := f.Open(t.Context(), root, "/f")
	want(t, err, 0)
	t.Cleanup(func() { _ = file.Close() })
	return f, vfs.Cred{Proc: &made{"me", file}}
}

func Test_A_Generated_Directory_Differs_For_Each_Caller(t *testing.T) {
	f, me := generated(t)
	for path, begin := range map[string]string{
		"/made/dir/file": "me dir/file.", "/made/self/file": "me dir/file.", "/made/out": "text", "/made/jump": "text", "/made/self/../out": "text",
		"/made/../f": "text", "/made/dir/../../f": "text",
	} {
		data, err := f.ReadFile(t.Context(), me, path)
		if err != nil || !strings.HasPrefix(string(data), begin) {
			t.Errorf("%s: %.30q, %v", path, data, err)
		}
	}
	other := vfs.Cred{UID: 7, Proc: &made{who: "other"}}
	if data, err := f.ReadFile(t.Context(), other, "/made/dir/file"); err != nil || len(data) != 200000+len("other dir/file") {
		t.Errorf("%.30q, %v", data, err)
	}
	if got := text(t, f, "/made/hidden"); got != "hidden" {
		t.Errorf("who has no such tree sees %q", got)
	}
	if list, err := f.ReadDir(me, "/made/"); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	if real, err := f.Realpath(me, "/made/self/file"); err != nil || real != "/made/dir/file" {
		t.Errorf("%q, %v", real, err)
	}
	_, err := f.Open(t.Context(), other, "/made/locked/file")
	want(t, err, syscall.EACCES)
}

func Test_A_Generated_Directory_Cannot_Be_Changed(t *testing.T) {
	f, me := generated(t)
	before := f.Snapshot()
	write := func(path string, flag int) error {
		file, err := f.OpenFile(t.Context(), me, path, flag, 0o644)
		if err == nil {
			_ = file.Close()
		}
		return err
	}
	_, looked := f.Stat(me, "/made/none")
	_, through := f.Stat(me, "/made/dir/file/x")
	_, slash := f.Stat(me, "/made/dir/file/")
	_, loop := f.Stat(me, "/made/round")
	for name, row := range map[string]struct {
		err  error
		want syscall.Errno
	}{
		"stat":           {looked, syscall.ENOENT},
		"through a file": {through, syscall.ENOTDIR},
		"slash":          {slash, syscall.ENOTDIR},
		"loop":           {loop, syscall.ELOOP},
		"create":         {write("/made/new", os.O_WRONLY|os.O_CREATE), syscall.ENOENT},
		"exclusive":      {write("/made/self", os.O_WRONLY|os.O_CREATE|os.O_EXCL), syscall.EEXIST},
		"write":          {write("/made/dir/file", os.O_WRONLY), syscall.EACCES},
		"no follow":      {write("/made/self", syscall.O_NOFOLLOW), syscall.ELOOP},
		"no directory":   {write("/made/dir/file", syscall.O_DIRECTORY), syscall.ENOTDIR},
		"write a dir":    {write("/made/dir", os.O_WRONLY), syscall.EISDIR},
		"mkdir":          {f.Mkdir(me, "/made/new", 0o755), syscall.ENOENT},
		"mkdir again":    {f.Mkdir(me, "/made/dir", 0o755), syscall.EEXIST},
		"mknod":          {f.Mknod(me, "/made/new", 0o644, 0), syscall.ENOENT},
		"symlink":        {f.Symlink(me, "x", "/made/new"), syscall.ENOENT},
		"link":           {f.Link(me, "/f", "/made/new"), syscall.EXDEV},
		"rename":         {f.Rename(me, "/made/self", "/made/new"), syscall.EPERM},
		"rename out":     {f.Rename(me, "/made/self", "/new"), syscall.EXDEV},
		"unlink":         {f.Unlink(me, "/made/self"), syscall.EPERM},
		"rmdir":          {f.Rmdir(me, "/made/dir"), syscall.EPERM},
		"chmod":          {f.Chmod(me, "/made/dir/file", 0o600), syscall.EPERM},
		"truncate":       {f.Truncate(me, "/made/dir/file", 0), syscall.EACCES},
		"access":         {f.Access(me, "/made/dir/file", vfs.MayWrite), syscall.EACCES},
		"the place":      {f.Rmdir(me, "/made"), syscall.EBUSY},
		"the place too":  {f.Rename(root, "/made", "/other"), syscall.EBUSY},
		"all of it":      {f.RemoveAll(root, "/made"), syscall.EBUSY},
	} {
		t.Run(name, func(t *testing.T) { want(t, row.err, row.want) })
	}
	if d := vfs.Diff(before, f.Snapshot()); len(d) != 0 {
		t.Errorf("changed: %v", d)
	}
	want(t, f.Check(), 0)
}

func Test_A_Generated_Directory_Is_In_No_Archive(t *testing.T) {
	f, me := generated(t)
	file, err := f.Open(t.Context(), me, "/made/dir/file")
	want(t, err, 0)
	var tar, pack bytes.Buffer
	want(t, f.Snapshot().WriteTar(&tar, "/"), 0)
	_, err = f.Snapshot().WritePack(&pack)
	want(t, err, 0)
	for name, data := range map[string][]byte{"tar": tar.Bytes(), "pack": pack.Bytes()} {
		if bytes.Contains(data, []byte("me dir/file")) {
			t.Errorf("the %s has it", name)
		}
	}
	f.Restore(vfs.New(vfs.Options{}).Snapshot())
	if part, err := file.Next(5); err != nil || string(part) != "me di" {
		t.Errorf("what was open is lost: %q, %v", part, err)
	}
	want(t, file.Close(), 0)
	want(t, f.Check(), 0)
	g, me := generated(t)
	if data, err := g.Fork().ReadFile(t.Context(), me, "/made/dir/file"); err != nil || !strings.HasPrefix(string(data), "me ") {
		t.Errorf("a fork has lost the place: %.20q, %v", data, err)
	}
}
