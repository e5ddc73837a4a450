package vfs_test

import (
	"bytes"
	"io"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// mounted is a tree with another at /mnt/inner, and one in that at deep.
func mounted(t *testing.T, o vfs.MountOptions) (f, g, h *vfs.FS) {
	t.Helper()
	f, g, h = vfs.New(vfs.Options{}), vfs.New(vfs.Options{Limits: vfs.Limits{Bytes: 1000}}), vfs.New(vfs.Options{})
	want(t, f.MkdirAll(root, "/mnt/inner", 0o755), 0)
	put(t, f, "/outer", "outer")
	put(t, f, "/mnt/beside", "beside")
	put(t, f, "/mnt/inner/hidden", "hidden")
	want(t, g.MkdirAll(root, "/dir/deep", 0o755), 0)
	put(t, g, "/dir/file", "inner")
	want(t, g.Symlink(root, "/outer", "/absolute"), 0)
	want(t, g.Symlink(root, "../../outer", "/relative"), 0)
	want(t, g.Symlink(root, "dir/file", "/link"), 0)
	put(t, h, "/bottom", "bottom")
	want(t, g.Mount("/dir/deep", h, vfs.MountOptions{}), 0)
	want(t, f.Mount("/mnt/inner", g, o), 0)
	want(t, f.Symlink(root, "/mnt/inner/dir", "/into"), 0)
	return f, g, h
}

func Test_A_Mounted_Tree_Is_Seen_In_Its_Place(t *testing.T) {
	f, _, _ := mounted(t, vfs.MountOptions{})
	for path, text := range map[string]string{
		"/mnt/inner/dir/file": "inner", "/mnt/inner/link": "inner", "/into/file": "inner", "/into/deep/bottom": "bottom",
		"/mnt/inner/absolute": "outer", "/mnt/inner/relative": "outer", "/mnt/inner/../beside": "beside", "/into/../../beside": "beside",
		"/mnt/inner/dir/deep/../../../../outer": "outer", "/into/deep/../file": "inner", "/mnt/./inner//dir/./file": "inner",
	} {
		if got, err := f.ReadFile(t.Context(), root, path); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", path, got, err)
		}
		if err := f.Access(root, path, vfs.MayRead); err != nil {
			t.Error(err)
		}
	}
	for path, real := range map[string]string{
		"/into/file": "/mnt/inner/dir/file", "/into/deep": "/mnt/inner/dir/deep", "/mnt/inner/relative": "/outer", "/mnt/inner": "/mnt/inner",
		"/into/deep/bottom": "/mnt/inner/dir/deep/bottom", "/mnt/inner/..": "/mnt",
	} {
		if got, err := f.Realpath(root, path); err != nil || got != real {
			t.Errorf("%s is really %q, %v", path, got, err)
		}
	}
	names := []string{}
	list, err := f.ReadDir(root, "/mnt/inner")
	want(t, err, 0)
	for _, e := range list {
		names = append(names, e.Name)
	}
	if want := []string{"absolute", "dir", "link", "relative"}; !slices.Equal(names, want) {
		t.Errorf("names %q", names)
	}
	for _, path := range []string{"/mnt/inner/hidden", "/mnt/inner/outer", "/mnt/inner/dir/none"} {
		_, err := f.Stat(root, path)
		want(t, err, syscall.ENOENT)
	}
	_, err = f.Stat(root, "/mnt/inner/dir/file/")
	want(t, err, syscall.ENOTDIR)
}

func Test_Each_Tree_Has_A_Number_Of_Its_Own(t *testing.T) {
	f, _, _ := mounted(t, vfs.MountOptions{})
	seen, inos := map[uint64]string{}, map[uint64]string{}
	list, err := f.ReadDir(root, "/into")
	want(t, err, 0)
	if info, err := f.Stat(root, "/into/"+list[1].Name); err != nil || info.Ino != list[1].Ino {
		t.Errorf("%v is %v by name, %v", list[1], info, err)
	}
	for _, path := range []string{"/outer", "/into/file", "/into/deep/bottom"} {
		info, err := f.Stat(root, path)
		want(t, err, 0)
		if other := seen[info.Dev]; other != "" {
			t.Errorf("%s and %s are on the same device", path, other)
		}
		if other := inos[info.Ino]; other != "" {
			t.Errorf("%s and %s have one number", path, other)
		}
		seen[info.Dev], inos[info.Ino] = path, path
		file, err := f.Open(t.Context(), root, path)
		want(t, err, 0)
		if open, err := file.Stat(); err != nil || open.Dev != info.Dev || open.Ino != info.Ino {
			t.Errorf("%s: %v open, %v by name, %v", path, open, info, err)
		}
		if at, gone := file.Path(); gone || at != map[string]string{"/outer": "/outer", "/into/file": "/mnt/inner/dir/file", "/into/deep/bottom": "/mnt/inner/dir/deep/bottom"}[path] {
			t.Errorf("%s is at %q", path, at)
		}
		want(t, file.Close(), 0)
	}
}

func Test_Changes_Through_A_Mount_Are_The_Trees_Own(t *testing.T) {
	f, g, _ := mounted(t, vfs.MountOptions{})
	before := f.Snapshot()
	put(t, f, "/mnt/inner/new", "new")
	want(t, f.Mkdir(root, "/into/sub", 0o755), 0)
	want(t, f.Mkfifo(root, "/into/pipe", 0o600), 0)
	want(t, f.Symlink(root, "x", "/into/sym"), 0)
	want(t, f.Link(root, "/mnt/inner/new", "/into/hard"), 0)
	want(t, f.Rename(root, "/into/file", "/mnt/inner/moved"), 0)
	want(t, f.Chmod(root, "/mnt/inner/new", 0o600), 0)
	want(t, f.Truncate(root, "/mnt/inner/new", 2), 0)
	want(t, f.Rmdir(root, "/into/sub"), 0)
	want(t, f.RemoveAll(root, "/mnt/inner/link"), 0)
	if got, err := g.ReadFile(t.Context(), root, "/dir/hard"); err != nil || string(got) != "ne" {
		t.Errorf("%q, %v", got, err)
	}
	if info, err := g.Stat(root, "/moved"); err != nil || info.Size != 5 {
		t.Errorf("%v, %v", info, err)
	}
	if d := vfs.Diff(before, f.Snapshot()); len(d) != 0 {
		t.Errorf("the outer tree changed: %v", d)
	}
	err := f.WriteFile(t.Context(), root, "/mnt/inner/big", make([]byte, 2000), 0o644)
	want(t, err, syscall.ENOSPC) // the limit is the inner tree's
	put(t, f, "/big", string(make([]byte, 2000)))
	for path, bytes := range map[string]int64{"/": 100 << 20, "/mnt/inner": 1000, "/into/new": 1000, "/into/deep": 100 << 20} {
		if path == "/into/new" {
			path = "/mnt/inner/new"
		}
		if u, err := f.UsageOf(root, path); err != nil || u.Limits.Bytes != bytes {
			t.Errorf("%s: %v, %v", path, u, err)
		}
	}
	want(t, f.Check(), 0)
	want(t, g.Check(), 0)
}

func Test_Nothing_Crosses_A_Mount(t *testing.T) {
	f, _, _ := mounted(t, vfs.MountOptions{})
	for name, row := range map[string]struct {
		err  error
		want syscall.Errno
	}{
		"rename out":             {f.Rename(root, "/into/file", "/file"), syscall.EXDEV},
		"rename in":              {f.Rename(root, "/outer", "/into/outer"), syscall.EXDEV},
		"rename deeper":          {f.Rename(root, "/into/file", "/into/deep/file"), syscall.EXDEV},
		"rename the mount point": {f.Rename(root, "/mnt/inner", "/mnt/other"), syscall.EBUSY},
		"rename over it":         {f.Rename(root, "/mnt", "/mnt/inner"), syscall.EINVAL},
		"rename an inner one":    {f.Rename(root, "/into/deep", "/into/other"), syscall.EBUSY},
		"link out":               {f.Link(root, "/into/file", "/file"), syscall.EXDEV},
		"link in":                {f.Link(root, "/outer", "/into/outer"), syscall.EXDEV},
		"rmdir":                  {f.Rmdir(root, "/mnt/inner"), syscall.EBUSY},
		"rmdir of an inner one":  {f.Rmdir(root, "/into/deep"), syscall.EBUSY},
		"unlink":                 {f.Unlink(root, "/mnt/inner"), syscall.EBUSY},
		"remove all":             {f.RemoveAll(root, "/mnt/inner"), syscall.EBUSY},
		"mkdir":                  {f.Mkdir(root, "/mnt/inner", 0o755), syscall.EEXIST},
		"mount twice":            {f.Mount("/mnt/inner", vfs.New(vfs.Options{}), vfs.MountOptions{}), syscall.EBUSY},
		"mount on the top":       {f.Mount("/", vfs.New(vfs.Options{}), vfs.MountOptions{}), syscall.EBUSY},
		"mount on a file":        {f.Mount("/outer", vfs.New(vfs.Options{}), vfs.MountOptions{}), syscall.ENOTDIR},
		"mount on nothing":       {f.Mount("/none", vfs.New(vfs.Options{}), vfs.MountOptions{}), syscall.ENOENT},
		"mount of itself":        {f.Mount("/mnt", f, vfs.MountOptions{}), syscall.ELOOP},
		"unmount nothing":        {f.Unmount("/mnt"), syscall.EINVAL},
	} {
		t.Run(name, func(t *testing.T) { want(t, row.err, row.want) })
	}
	want(t, f.RemoveAll(root, "/mnt"), syscall.EBUSY)
	if got, err := f.ReadFile(t.Context(), root, "/into/file"); err != nil || string(got) != "inner" {
		t.Errorf("%q, %v", got, err)
	}
}

func Test_A_Circle_Of_Mounts_Is_Refused(t *testing.T) {
	f, _, h := mounted(t, vfs.MountOptions{})
	want(t, h.Mkdir(root, "/d", 0o755), 0)
	want(t, h.Mount("/d", f, vfs.MountOptions{}), syscall.ELOOP)
}

func Test_A_Mount_That_Is_Read_Only_Changes_Nothing(t *testing.T) {
	f, g, _ := mounted(t, vfs.MountOptions{ReadOnly: true})
	before := g.Snapshot()
	file, err := f.Open(t.Context(), root, "/into/file")
	want(t, err, 0)
	_, again := file.Reopen(t.Context(), root, os.O_WRONLY)
	for name, err := range map[string]error{
		"write":   f.WriteFile(t.Context(), root, "/into/file", nil, 0o644),
		"create":  f.WriteFile(t.Context(), root, "/into/new", nil, 0o644),
		"mkdir":   f.Mkdir(root, "/into/new", 0o755),
		"mknod":   f.Mknod(root, "/into/new", 0o644, 0),
		"symlink": f.Symlink(root, "x", "/into/new"),
		"link":    f.Link(root, "/into/file", "/into/new"),
		"rename":  f.Rename(root, "/into/file", "/into/new"),
		"unlink":  f.Unlink(root, "/into/file"),
		"rmdir":   f.Rmdir(root, "/mnt/inner/dir"),
		"chmod":   f.Chmod(root, "/into/file", 0o600),
		"touch":   f.Touch(root, "/into/file", true),
		"cut":     f.Truncate(root, "/into/file", 0),
		"access":  f.Access(root, "/into/file", vfs.MayWrite),
		"reopen":  again,
	} {
		t.Run(name, func(t *testing.T) { want(t, err, syscall.EROFS) })
	}
	if d := vfs.Diff(before, g.Snapshot()); len(d) != 0 {
		t.Errorf("changed: %v", d)
	}
	put(t, g, "/later", "by its owner")
	if got, err := f.ReadFile(t.Context(), root, "/mnt/inner/later"); err != nil || string(got) != "by its owner" {
		t.Errorf("%q, %v", got, err)
	}
}

func Test_Snapshots_And_Forks_Have_No_Mounts(t *testing.T) {
	f, g, _ := mounted(t, vfs.MountOptions{})
	s := f.Snapshot()
	for name, other := range map[string]*vfs.FS{"fork": f.Fork(), "snapshot": s.FS(vfs.Options{})} {
		if got, err := other.ReadFile(t.Context(), root, "/mnt/inner/hidden"); err != nil || string(got) != "hidden" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	var pack bytes.Buffer
	_, err := f.Snapshot().WritePack(&pack)
	want(t, err, 0)
	file, err := f.OpenFile(t.Context(), root, "/into/file", os.O_RDWR, 0)
	want(t, err, 0)
	want(t, f.Unmount("/mnt/inner"), 0)
	if got := text(t, f, "/mnt/inner/hidden"); got != "hidden" {
		t.Error(got)
	}
	if _, err := file.Write([]byte("still")); err != nil || text(t, g, "/dir/file") != "still" {
		t.Errorf("what was open is lost: %v", err)
	}
	if m := f.Mounts(); len(m) != 0 {
		t.Errorf("mounts %v", m)
	}
}

func Test_A_Mount_Follows_Its_Directory(t *testing.T) {
	f, _, _ := mounted(t, vfs.MountOptions{})
	without := vfs.New(vfs.Options{}).Snapshot()
	with := f.Snapshot()
	want(t, f.Rename(root, "/mnt", "/moved"), 0)
	if m := f.Mounts(); len(m) != 1 || m[0].Path != "/moved/inner" {
		t.Errorf("mounts %v", m)
	}
	if got, err := f.ReadFile(t.Context(), root, "/moved/inner/dir/file"); err != nil || string(got) != "inner" {
		t.Errorf("%q, %v", got, err)
	}
	f.Restore(without)
	if m := f.Mounts(); len(m) != 0 {
		t.Errorf("mounts %v", m)
	}
	f.Restore(with)
	if got, err := f.ReadFile(t.Context(), root, "/mnt/inner/dir/file"); err != nil || string(got) != "inner" {
		t.Errorf("%q, %v", got, err)
	}
}

func Test_A_File_Is_Opened_Anew(t *testing.T) {
	f := vfs.New(vfs.Options{})
	put(t, f, "/f", "hello")
	want(t, f.Chown(root, "/f", 7, 7, true), 0)
	want(t, f.Chmod(root, "/f", 0o400), 0)
	file, err := f.Open(t.Context(), root, "/f")
	want(t, err, 0)
	_, err = file.Read(make([]byte, 3))
	want(t, err, 0)
	want(t, f.Unlink(root, "/f"), 0)
	again, err := file.Reopen(t.Context(), vfs.Cred{UID: 7}, os.O_RDONLY)
	want(t, err, 0)
	if all, err := io.ReadAll(again); err != nil || string(all) != "hello" {
		t.Errorf("%q, %v", all, err)
	}
	_, err = file.Reopen(t.Context(), vfs.Cred{UID: 7}, os.O_RDWR)
	want(t, err, syscall.EACCES)
	_, err = file.Reopen(t.Context(), vfs.Cred{UID: 8}, os.O_RDONLY)
	want(t, err, syscall.EACCES)
	cut, err := file.Reopen(t.Context(), root, os.O_RDWR|os.O_TRUNC)
	want(t, err, 0)
	if info, err := file.Stat(); err != nil || info.Size != 0 || info.Nlink != 0 {
		t.Errorf("%v, %v", info, err)
	}
	if at, gone := file.Path(); at != "/f" || !gone {
		t.Errorf("%q, %v", at, gone)
	}
	for _, f := range []*vfs.File{file, again, cut} {
		want(t, f.Close(), 0)
	}
	want(t, f.Check(), 0)
	if u := f.Usage(); u.Nodes != 1 {
		t.Errorf("%d nodes are left", u.Nodes)
	}
}

func Test_A_Pipe_Is_Opened_Anew(t *testing.T) {
	r, w := vfs.Pipe()
	more, err := r.Reopen(t.Context(), root, os.O_WRONLY)
	want(t, err, 0)
	want(t, w.Close(), 0)
	if _, err := more.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	want(t, more.Close(), 0)
	if all, err := io.ReadAll(r); err != nil || string(all) != "x" {
		t.Errorf("%q, %v", all, err)
	}
}
