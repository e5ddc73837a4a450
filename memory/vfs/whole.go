package vfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// ReadFile returns what the file at path holds. A named pipe is read to its end.
func (f *FS) ReadFile(ctx context.Context, c Cred, path string) ([]byte, error) {
	file, err := f.OpenFile(ctx, c, path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode.IsRegular() {
		return io.ReadAll(file.WithContext(ctx))
	}
	data := make([]byte, info.Size)
	n, err := file.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data[:n], nil
}

// WriteFile creates the file at path with perm, or empties what is there, and writes data to it.
func (f *FS) WriteFile(ctx context.Context, c Cred, path string, data []byte, perm fs.FileMode) error {
	file, err := f.OpenFile(ctx, c, path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = file.WithContext(ctx).Write(data)
	return errors.Join(err, file.Close())
}

// MkdirAll creates a directory and those above it that are missing. It is no error if
// there is a directory already.
func (f *FS) MkdirAll(c Cred, path string, perm fs.FileMode) error {
	err := f.Mkdir(c, path, perm)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EEXIST):
		if info, e := f.Stat(c, path); e == nil && info.IsDir() {
			return nil
		}
		return err
	case !errors.Is(err, syscall.ENOENT):
		return err
	}
	up := strings.TrimRight(path, "/")
	i := strings.LastIndexByte(up, '/')
	if i <= 0 {
		return err
	}
	if err := f.MkdirAll(c, up[:i], perm); err != nil {
		return err
	}
	if err := f.Mkdir(c, path, perm); err != nil && !errors.Is(err, syscall.EEXIST) {
		return err
	}
	return nil
}
