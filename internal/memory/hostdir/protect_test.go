package hostdir_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/hostdir"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// protected is a host directory of which ro and file are fixed but for ro/rw, and hide, secret and
// link are masked.
func protected(t *testing.T) (string, *vfs.FS) {
	t.Helper()
	dir := t.TempDir()
	must(t,
		os.MkdirAll(filepath.Join(dir, "top/ro/rw"), 0o755),
		os.MkdirAll(filepath.Join(dir, "hide/d"), 0o755),
		os.WriteFile(filepath.Join(dir, "hide/d/f"), []byte("canary"), 0o644),
		os.WriteFile(filepath.Join(dir, "secret"), []byte("canary"), 0o644),
		os.Symlink("secret", filepath.Join(dir, "link")),
		os.WriteFile(filepath.Join(dir, "top/ro/f"), []byte("old"), 0o644),
		os.WriteFile(filepath.Join(dir, "file"), []byte("old"), 0o644),
	)
	rules := map[string]vfs.Protection{
		".": vfs.Pinned, "top": vfs.Pinned, "top/ro": vfs.Fixed, "top/ro/f": vfs.Fixed, "file": vfs.Fixed,
		"hide": vfs.Masked, "secret": vfs.Masked, "link": vfs.Masked,
	}
	f := vfs.New(unlimited)
	must(t, f.Mkdir(root, "/proj", 0o755))
	m, err := hostdir.Attach(f, "/proj", dir, hostdir.Options{Protect: func(name string) vfs.Protection { return rules[name] }})
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	return dir, f
}

func Test_Protected_Files_Do_Not_Change(t *testing.T) {
	t.Parallel()
	dir, f := protected(t)
	write(t, f, "/proj/other", "new")
	put := func(path string) error { return f.WriteFile(t.Context(), root, path, []byte("new"), 0o644) }
	open := func(path string) error {
		file, err := f.Open(t.Context(), root, path)
		if err == nil {
			_ = file.Close()
		}
		return err
	}
	for what, c := range map[string]struct {
		err  error
		want syscall.Errno
	}{
		"write a fixed file":            {put("/proj/file"), syscall.EROFS},
		"write below a fixed one":       {put("/proj/top/ro/f"), syscall.EROFS},
		"add to a fixed directory":      {put("/proj/top/ro/new"), syscall.EROFS},
		"mkdir in a fixed directory":    {f.Mkdir(root, "/proj/top/ro/d", 0o755), syscall.EROFS},
		"chmod":                         {f.Chmod(root, "/proj/file", 0o777), syscall.EROFS},
		"truncate":                      {f.Truncate(root, "/proj/file", 0), syscall.EROFS},
		"unlink":                        {f.Unlink(root, "/proj/file"), syscall.EBUSY},
		"unlink in a fixed directory":   {f.Unlink(root, "/proj/top/ro/f"), syscall.EROFS},
		"rename away":                   {f.Rename(root, "/proj/file", "/proj/gone"), syscall.EBUSY},
		"rename over":                   {f.Rename(root, "/proj/other", "/proj/file"), syscall.EBUSY},
		"rename a fixed directory":      {f.Rename(root, "/proj/top/ro", "/proj/gone"), syscall.EBUSY},
		"rename what leads there":       {f.Rename(root, "/proj/top", "/proj/gone"), syscall.EBUSY},
		"rename the mount":              {f.Rename(root, "/proj", "/gone"), syscall.EBUSY},
		"link a fixed file":             {f.Link(root, "/proj/file", "/proj/again"), syscall.EROFS},
		"remove all":                    {f.RemoveAll(root, "/proj/hide"), syscall.EBUSY},
		"read a masked file":            {open("/proj/secret"), syscall.EACCES},
		"read through a masked link":    {open("/proj/link"), syscall.EACCES},
		"read in a masked directory":    {open("/proj/hide/d/f"), syscall.ENOENT},
		"write in a masked directory":   {put("/proj/hide/f"), syscall.EROFS},
		"write below, where it is free": {put("/proj/top/ro/rw/f"), 0},
	} {
		if got, _ := errors.AsType[syscall.Errno](c.err); got != c.want {
			t.Errorf("%s: %v, want %v", what, c.err, c.want)
		}
	}
	if list, err := f.ReadDir(root, "/proj/hide"); err != nil || len(list) != 0 {
		t.Errorf("a masked directory lists %v, %v", list, err)
	}
	if got := read(t, f, "/proj/file") + read(t, f, "/proj/top/ro/f") + host(t, dir, "file"); got != "oldoldold" {
		t.Errorf("the files hold %q", got)
	}
}
