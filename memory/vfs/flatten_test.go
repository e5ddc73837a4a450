package vfs_test

import (
	"bytes"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// layered is a tree with a layer at /proj in which something of each kind was changed.
func layered(t *testing.T) *vfs.FS {
	t.Helper()
	f := vfs.New(vfs.Options{})
	put(t, f, "/own", "mine")
	want(t, f.Mkdir(root, "/proj", 0o755), 0)
	_, err := f.Attach("/proj", fstest.MapFS{
		"kept":          {Data: []byte("kept"), Mode: 0o640},
		"gone":          {Data: []byte("gone")},
		"dir/gone":      {Data: []byte("gone too")},
		"dir/kept":      {Data: []byte(strings.Repeat("0123456789", 20000)), Mode: 0o755},
		"dir/written":   {Data: []byte(strings.Repeat("abcdefghij", 20000))},
		"dir/cut":       {Data: []byte(strings.Repeat("abcdefghij", 20000))},
		"holes":         {Data: make([]byte, 200000)},
		"link":          {Data: []byte("dir/kept"), Mode: fs.ModeSymlink | 0o777},
		"socket":        {Mode: fs.ModeSocket | 0o600},
		"secret":        {Data: []byte("secret")},
		"hidden/secret": {Data: []byte("secret")},
		"moved":         {Data: []byte("moved")},
	}, vfs.LayerOptions{
		Owner: func(fs.FileInfo) (uint32, uint32) { return 7, 8 },
		Protect: func(name string) vfs.Protection {
			if name == "secret" || name == "hidden" {
				return vfs.Masked
			}
			return vfs.Free
		},
	})
	want(t, err, 0)
	want(t, f.Unlink(root, "/proj/gone"), 0)
	want(t, f.Unlink(root, "/proj/dir/gone"), 0)
	want(t, f.Rename(root, "/proj/moved", "/proj/dir/moved"), 0)
	want(t, f.Truncate(root, "/proj/dir/cut", 100001), 0)
	want(t, f.Link(root, "/proj/kept", "/hard"), 0)
	writeAt(t, f, "/proj/dir/written", "island", 70000)
	return f
}

func Test_A_Tree_With_A_Layer_Is_Packed_As_It_Shows(t *testing.T) {
	f := layered(t)
	flat, err := f.Snapshot().Flatten(vfs.Limits{})
	want(t, err, 0)
	var b bytes.Buffer
	_, err = flat.WritePack(&b)
	want(t, err, 0)
	back, _, err := vfs.ReadPack(&b, vfs.Limits{})
	want(t, err, 0)
	g := back.FS(vfs.Options{})
	want(t, g.Check(), 0)
	want(t, flat.FS(vfs.Options{}).Check(), 0)
	for path, text := range map[string]string{
		"/own": "mine", "/proj/kept": "kept", "/hard": "kept", "/proj/dir/moved": "moved", "/proj/link": strings.Repeat("0123456789", 20000),
		"/proj/dir/cut": strings.Repeat("abcdefghij", 20000)[:100001], "/proj/holes": strings.Repeat("\x00", 200000),
		"/proj/dir/written": strings.Repeat("abcdefghij", 20000)[:70000] + "island" + strings.Repeat("abcdefghij", 20000)[70006:], "/proj/secret": "",
	} {
		if got, err := g.ReadFile(t.Context(), root, path); err != nil || string(got) != text {
			t.Errorf("%s: %.40q, %v", path, got, err)
		}
		a, err1 := f.Stat(root, path)
		b, err2 := g.Stat(root, path)
		if err1 != nil || err2 != nil || a.Mode != b.Mode || a.UID != b.UID || a.Nlink != b.Nlink || !a.Mtime.Equal(b.Mtime) || a.Size != b.Size {
			t.Errorf("%s: %v became %v", path, a, b)
		}
	}
	for _, path := range []string{"/proj/gone", "/proj/dir/gone", "/proj/moved", "/proj/socket", "/proj/hidden/secret"} {
		if _, err := g.Lstat(root, path); err == nil {
			t.Errorf("%s is there", path)
		}
	}
	if info, _ := g.Stat(root, "/proj/holes"); info.Blocks != 0 {
		t.Errorf("zeros take %d blocks", info.Blocks)
	}
	list, _ := f.ReadDir(root, "/proj/dir")
	again, _ := g.ReadDir(root, "/proj/dir")
	if len(list) != len(again) {
		t.Errorf("%v became %v", list, again)
	}
}

func Test_A_Tree_With_A_Layer_Is_Archived_As_It_Appears(t *testing.T) {
	var b bytes.Buffer
	want(t, layered(t).Snapshot().WriteTar(&b, "/"), 0)
	g := vfs.New(vfs.Options{})
	want(t, g.ReadTar(t.Context(), &b, "/"), 0)
	flat, err := layered(t).Snapshot().Flatten(vfs.Limits{})
	want(t, err, 0)
	for _, c := range vfs.Diff(flat, g.Snapshot()) {
		if c.Content || c.Kind != vfs.Modified || c.Old.Mode != c.New.Mode {
			t.Errorf("%s %s: %v, %v", c.Kind, c.Path, c.Old, c.New)
		}
	}
}

func Test_A_Layer_Beyond_The_Limits_Is_Not_Flattened(t *testing.T) {
	for name, row := range map[string]struct {
		limits vfs.Limits
		want   syscall.Errno
	}{
		"bytes": {vfs.Limits{Bytes: 300000}, syscall.ENOSPC},
		"file":  {vfs.Limits{FileBytes: 199999}, syscall.EFBIG},
		"nodes": {vfs.Limits{Nodes: 10}, syscall.ENOSPC},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := layered(t).Snapshot().Flatten(row.limits)
			want(t, err, row.want)
		})
	}
}

func Test_A_Sparse_File_Is_Exported_Without_Its_Holes(t *testing.T) {
	f := vfs.New(unlimited)
	put(t, f, "/sparse", "")
	want(t, f.Truncate(root, "/sparse", 1<<50), 0)
	writeAt(t, f, "/sparse", "island", 1<<49)
	var b bytes.Buffer
	want(t, f.Snapshot().WriteTar(&b, "/"), 0)
	if b.Len() > 100<<10 {
		t.Errorf("the archive takes %d bytes", b.Len())
	}
}
