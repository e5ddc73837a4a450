package virtual

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// files implements [sandbox.Files] on a tree, with the rights of the user of commands.
type files struct{ i *instance }

func (f files) at(name string) (*vfs.FS, vfs.Cred, string, error) {
	f.i.mu.Lock()
	closed := f.i.closed
	f.i.mu.Unlock()
	switch {
	case closed:
		return nil, vfs.Cred{}, "", sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	case name == "":
		return nil, vfs.Cred{}, "", sandbox.Errorf(sandbox.Invalid, "an empty file name")
	}
	return f.i.tree.fs, f.i.user.Cred(), f.i.abs(name), nil
}

// commit saves the files after an operation that returned err, also after a partial failure, so that what the caller
// learns from err is true after a kill, too.
func (f files) commit(err error) error {
	if errors.Is(err, syscall.EFBIG) || errors.Is(err, syscall.ENOSPC) {
		err = sandbox.Errorf(sandbox.Exhausted, "%w", err)
	}
	return errors.Join(err, f.i.saved.commit(f.i.tree))
}

// Open streams a regular file.
func (f files) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	tree, cred, name, err := f.at(name)
	if err != nil {
		return nil, err
	}
	info, err := tree.Stat(cred, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode.IsRegular() { // Opening a named pipe would block until a command opens its other end.
		return nil, sandbox.Errorf(sandbox.Invalid, "%s is not a regular file", name)
	}
	file, err := tree.Open(ctx, cred, name)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Create replaces a file when all of its content has arrived.
func (f files) Create(ctx context.Context, name string, perm fs.FileMode, r io.Reader) (err error) {
	tree, cred, name, err := f.at(name)
	if err != nil {
		return err
	}
	// Of a link it replaces the target, as a command would do.
	if real, err := tree.Realpath(cred, name); err == nil {
		name = real
	}
	if err := tree.Access(cred, name, vfs.MayWrite); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // A rename does not check this.
	}
	part := path.Join(path.Dir(name), "."+path.Base(name)[:min(len(path.Base(name)), 100)]+"."+f.i.id)
	w, err := tree.OpenFile(ctx, cred, part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return setErrorPath(name, err)
	}
	_, err = io.Copy(w, r)
	err = errors.Join(err, w.Close())
	if err == nil {
		err = tree.Rename(cred, part, name)
	}
	err = setErrorPath(name, err)
	if err != nil {
		_ = tree.Unlink(cred, part) // It may not exist, and the first error counts.
	}
	return f.commit(err)
}

// setErrorPath names the file that was asked for in an error of the tree, which names a temporary one.
func setErrorPath(name string, err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return &fs.PathError{Op: "create", Path: name, Err: errno}
	}
	return err
}

// Stat returns the status of name, without following a link.
func (f files) Stat(_ context.Context, name string) (sandbox.FileInfo, error) {
	tree, cred, name, err := f.at(name)
	if err != nil {
		return sandbox.FileInfo{}, err
	}
	info, err := tree.Lstat(cred, name)
	if err != nil {
		return sandbox.FileInfo{}, err
	}
	return fileInfo(tree, cred, name, info), nil
}

// List lists a directory by name.
func (f files) List(_ context.Context, name string) ([]sandbox.FileInfo, error) {
	tree, cred, name, err := f.at(name)
	if err != nil {
		return nil, err
	}
	entries, err := tree.ReadDir(cred, name)
	if err != nil {
		return nil, err
	}
	out := make([]sandbox.FileInfo, 0, len(entries))
	for _, e := range entries {
		at := path.Join(name, e.Name)
		info, err := tree.Lstat(cred, at)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since
		}
		if err != nil {
			return nil, err
		}
		out = append(out, fileInfo(tree, cred, at, info))
	}
	return out, nil
}

// Remove removes name with everything below it.
func (f files) Remove(_ context.Context, name string) error {
	tree, cred, name, err := f.at(name)
	if err != nil {
		return err
	}
	if _, err := tree.Lstat(cred, name); err != nil {
		return err
	}
	return f.commit(tree.RemoveAll(cred, name))
}

// Rename moves a file or directory.
func (f files) Rename(_ context.Context, from, to string) error {
	tree, cred, from, err := f.at(from)
	if err != nil {
		return err
	}
	_, _, to, err = f.at(to)
	if err != nil {
		return err
	}
	return f.commit(tree.Rename(cred, from, to))
}

func fileInfo(tree *vfs.FS, cred vfs.Cred, name string, info vfs.Info) sandbox.FileInfo {
	out := sandbox.FileInfo{Name: path.Base(name), Size: info.Size, Mode: info.Mode, Time: info.Mtime}
	if info.Mode&fs.ModeSymlink != 0 {
		out.Target, _ = tree.Readlink(cred, name)
	}
	return out
}
