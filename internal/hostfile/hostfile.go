// Package hostfile opens files of the host at paths that a command in a sandbox may have prepared. Such a command can
// put a symbolic link on the path, through which this process would open a file that the command itself cannot reach,
// or a FIFO in place of the file, which would block this process.
package hostfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Writable reports whether commands in a sandbox can create an entry at a path. The path is absolute and clean, and its
// directories are not symbolic links. Nil: commands can create no entries.
type Writable func(path string) bool

// Or returns a Writable that is true where w or other is.
func (w Writable) Or(other Writable) Writable {
	switch {
	case w == nil:
		return other
	case other == nil:
		return w
	}
	return func(path string) bool { return w(path) || other(path) }
}

// Below returns a Writable that is true for a clean absolute directory and all paths below it.
func Below(dir string) Writable {
	return func(path string) bool {
		return path == dir || dir == "/" || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
	}
}

// maxLinks is the number of symbolic links that one path may have, as in the kernel.
const maxLinks = 40

// Open opens a regular file by the name that a user gave. It follows the user's links, and refuses links at paths for
// which w is true. Flags and perm are those of open(2); Open never waits for the other end of a FIFO. Where w is false,
// the file may also be a character device, or the name of a descriptor of this process, such as /dev/stderr.
func Open(name string, flags int, perm fs.FileMode, w Writable) (*os.File, error) {
	if isDescriptor(name) {
		return os.OpenFile(name, flags&^(os.O_CREATE|os.O_EXCL)|nonblock, perm)
	}
	dir, base, err := parent(name, w)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	f, at, err := dir.openFile(base, flags, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && (info.Mode()&fs.ModeCharDevice == 0 || w != nil && w(at)) {
		err = irregular(name, info.Mode())
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

// OpenParent opens the directory of a file that a user named and that need not exist. It returns the file's name in it,
// which is "." if the name ends like that of a directory. It follows links as [Open] does; it follows a link that is
// the file itself only if last is set.
func OpenParent(name string, last bool, w Writable) (*os.Root, string, error) {
	dir, base, err := parent(name, w)
	if err != nil {
		return nil, "", err
	}
	defer dir.close()
	if last {
		if base, err = dir.followFile(base); err != nil {
			return nil, "", err
		}
	}
	root, err := dir.root()
	return root, base, err
}

// OpenDir opens a directory that a user named.
func OpenDir(name string, w Writable) (*os.Root, error) {
	dir, _, err := parent(strings.TrimRight(name, "/")+"/.", w)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	return dir.root()
}

// ReadAll reads a regular file of at most limit bytes.
func ReadAll(f *os.File, limit int64) ([]byte, fs.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", f.Name())
	}
	// The file may grow while it is read, and a part of a value would be a wrong value.
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is larger than %s", f.Name(), sandbox.Bytes(limit))
	}
	return data, info, err
}

// ReadIn reads a regular file of at most limit bytes in dir. It does not follow links.
func ReadIn(dir *os.Root, name string, limit int64) ([]byte, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, irregular(name, info.Mode())
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, opened, err := ReadAll(f, limit)
	if err == nil && !os.SameFile(info, opened) {
		err = fmt.Errorf("%s was replaced while it was read", name)
	}
	return data, err
}

// ReplaceIn replaces the file name in dir in one step, so that a crash leaves the old one. It replaces a link, and does not
// follow it.
func ReplaceIn(dir *os.Root, name string, data []byte) error {
	temporary := ".agent-sandbox-" + rand.Text()
	f, err := dir.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(temporary, name)
	}
	if err != nil {
		_ = dir.Remove(temporary) // the first error counts
	}
	return err
}

// isDescriptor reports whether a name refers to a descriptor of this process.
func isDescriptor(name string) bool {
	switch name {
	case "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return true
	}
	dir, number := filepath.Split(name)
	return (dir == "/dev/fd/" || dir == "/proc/self/fd/") && number != "" && strings.Trim(number, "0123456789") == ""
}

// parent walks to the directory of an absolute or relative name. The returned base is "." for a directory.
func parent(name string, w Writable) (*walk, string, error) {
	full := name
	if name == "" {
		return nil, "", &fs.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	}
	if !filepath.IsAbs(name) {
		wd, err := os.Getwd()
		if err != nil {
			return nil, "", err
		}
		full = wd + "/" + name
	}
	k, err := newWalk(name, w)
	if err != nil {
		return nil, "", err
	}
	base, err := k.enter(full)
	if err != nil {
		k.close()
		return nil, "", err
	}
	return k, base, nil
}

// enter walks to the directory of path and returns the last component; "." for a directory.
func (k *walk) enter(path string) (string, error) {
	if strings.HasPrefix(path, "/") {
		if err := k.toTop(); err != nil {
			return "", err
		}
	}
	rest := strings.Split(path, "/")
	for len(rest) > 1 {
		name := rest[0]
		rest = rest[1:]
		if name == "" || name == "." {
			continue
		}
		text, err := k.step(name)
		if err != nil {
			return "", err
		}
		if text == "" {
			continue
		}
		if strings.HasPrefix(text, "/") {
			if err := k.toTop(); err != nil {
				return "", err
			}
		}
		rest = append(strings.Split(text, "/"), rest...)
	}
	switch base := rest[0]; base {
	case "", ".":
		return ".", nil
	case "..":
		_, err := k.step(base)
		return ".", err
	default:
		return base, nil
	}
}

// admitLink counts a link, and refuses a link that commands can create.
func (k *walk) admitLink(at string) error {
	if k.writable != nil && k.writable(at) {
		return sandbox.Errorf(sandbox.Denied, "%s: %s is a symbolic link, and commands in a sandbox can write there", k.name, at).
			WithHint("remove the link, or name a file where commands cannot write")
	}
	if k.links++; k.links > maxLinks {
		return k.failed(syscall.ELOOP)
	}
	return nil
}

func (k *walk) failed(err error) error { return &fs.PathError{Op: "open", Path: k.name, Err: err} }

// irregular returns the error for a file of another type.
func irregular(name string, mode fs.FileMode) error {
	kind := "a device"
	switch {
	case mode&fs.ModeSymlink != 0:
		kind = "a symbolic link"
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a FIFO"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return sandbox.Errorf(sandbox.Invalid, "%s is %s, expected a regular file", name, kind).
		WithHint("remove it, or name another file")
}

// join adds a component to a clean absolute path.
func join(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}
