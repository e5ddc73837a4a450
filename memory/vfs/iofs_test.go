package vfs_test

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func Test_A_View_Is_A_File_System_Of_The_Standard_Library(t *testing.T) {
	f := vfs.New(vfs.Options{})
	want(t, f.MkdirAll(root, "/top/a/b", 0o755), 0)
	put(t, f, "/top/a/b/c", "text")
	put(t, f, "/top/x", "")
	want(t, f.Symlink(root, "a/b", "/top/link"), 0)
	sub, err := fs.Sub(f.View(root), "top")
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(sub, "a/b/c", "x", "link"); err != nil {
		t.Fatal(err)
	}
	if target, err := fs.ReadLink(sub, "link"); target != "a/b" || err != nil {
		t.Fatal(target, err)
	}
	for _, name := range []string{"/x", "../x", "a/", ""} {
		if _, err := sub.Open(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := fs.Stat(sub, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}
