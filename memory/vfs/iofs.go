package vfs

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// View is a directory of a file system as an [fs.FS] that only reads. Links are
// followed within the file system, also to outside the directory. Named pipes are
// opened without waiting.
type View struct {
	fs   *FS
	cred Cred
	dir  string
}

var (
	_ fs.ReadDirFS  = View{}
	_ fs.ReadFileFS = View{}
	_ fs.StatFS     = View{}
	_ fs.ReadLinkFS = View{}
	_ fs.SubFS      = View{}
)

// View returns the tree as c sees it.
func (f *FS) View(c Cred) View { return View{fs: f, cred: c, dir: "/"} }

// at returns the path in the tree for a name of io/fs.
func (v View) at(op, name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return path.Join(v.dir, name), nil
}

// withName replaces the path in an error by the name that the caller passed.
func withName(err error, name string) error {
	if e, ok := err.(*fs.PathError); ok { //nolint:errorlint // It is ours, and was just made.
		return &fs.PathError{Op: e.Op, Path: name, Err: e.Err}
	}
	return err
}

// Open opens a file or a directory for reading.
func (v View) Open(name string) (fs.File, error) {
	p, err := v.at("open", name)
	if err != nil {
		return nil, err
	}
	f, err := v.fs.OpenFile(context.Background(), v.cred, p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, withName(err, name)
	}
	if f.h.d.dir {
		return &viewDir{viewFile{f, name}}, nil
	}
	return &viewFile{f, name}, nil
}

// Sub returns the view of a directory below.
func (v View) Sub(name string) (fs.FS, error) {
	p, err := v.at("sub", name)
	if err != nil {
		return nil, err
	}
	return View{fs: v.fs, cred: v.cred, dir: p}, nil
}

// Stat describes a file; links are followed.
func (v View) Stat(name string) (fs.FileInfo, error) {
	return v.stat("stat", name, v.fs.Stat)
}

// Lstat describes a file or a link.
func (v View) Lstat(name string) (fs.FileInfo, error) {
	return v.stat("lstat", name, v.fs.Lstat)
}

func (v View) stat(op, name string, stat func(Cred, string) (Info, error)) (fs.FileInfo, error) {
	p, err := v.at(op, name)
	if err != nil {
		return nil, err
	}
	i, err := stat(v.cred, p)
	if err != nil {
		return nil, withName(err, name)
	}
	i.Name = path.Base(name)
	return i.FileInfo(), nil
}

// ReadLink returns the target of a link.
func (v View) ReadLink(name string) (string, error) {
	p, err := v.at("readlink", name)
	if err != nil {
		return "", err
	}
	target, err := v.fs.Readlink(v.cred, p)
	return target, withName(err, name)
}

// ReadDir lists a directory.
func (v View) ReadDir(name string) ([]fs.DirEntry, error) {
	p, err := v.at("readdir", name)
	if err != nil {
		return nil, err
	}
	list, err := v.fs.ReadDir(v.cred, p)
	if err != nil {
		return nil, withName(err, name)
	}
	return v.entries(name, list), nil
}

// ReadFile returns the content of a file.
func (v View) ReadFile(name string) ([]byte, error) {
	f, err := v.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func (v View) entries(dir string, list []DirEntry) []fs.DirEntry {
	out := make([]fs.DirEntry, len(list))
	for i, e := range list {
		out[i] = viewEntry{v, path.Join(dir, e.Name), e}
	}
	return out
}

// viewEntry is a DirEntry that can describe itself.
type viewEntry struct {
	view View
	path string
	ent  DirEntry
}

func (e viewEntry) Name() string               { return e.ent.Name }
func (e viewEntry) IsDir() bool                { return e.ent.IsDir() }
func (e viewEntry) Type() fs.FileMode          { return e.ent.Mode.Type() }
func (e viewEntry) Info() (fs.FileInfo, error) { return e.view.Lstat(e.path) }
func (e viewEntry) String() string             { return fs.FormatDirEntry(e) }

// viewFile is a File as io/fs wants it.
type viewFile struct {
	*File
	name string
}

func (f *viewFile) Stat() (fs.FileInfo, error) {
	i, err := f.File.Stat()
	if err != nil {
		return nil, withName(err, f.name)
	}
	i.Name = path.Base(f.name)
	return i.FileInfo(), nil
}

// viewDir is a directory; only it is an [fs.ReadDirFile].
type viewDir struct{ viewFile }

func (f *viewDir) ReadDir(n int) ([]fs.DirEntry, error) {
	d := f.h.d
	list, err := f.File.ReadDir(n)
	if err != nil {
		return nil, err // io.EOF must stay unwrapped
	}
	return View{fs: d.fs, cred: d.cred, dir: d.name}.entries(".", list), nil
}
