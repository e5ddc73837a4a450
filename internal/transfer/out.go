package transfer

import (
	"archive/tar"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// OutOptions configure [Out] and [GetTar].
type OutOptions struct {
	Limits
	Writable hostfile.Writable // where commands can create links on the host; for Out
	// Created is called with the path of each file and link before it is created: the path on the host, which begins
	// with hostPath, or in the archive. Nil: no function is called.
	Created func(path string)
}

// created returns Created for names below dir.
func (o OutOptions) created(dir string) func(string) {
	if o.Created == nil {
		return nil
	}
	return func(name string) { o.Created(path.Join(dir, name)) }
}

// Out copies a file or directory of a sandbox to the host, with the name that [In] describes. It creates files only
// below that name, like [Unpack]. On the path to it, it does not follow links that commands could have made; see
// [hostfile.Writable]. left contains the names of omitted members.
func Out(ctx context.Context, box *sandbox.Sandbox, insidePath, hostPath string, o OutOptions) (left []string, err error) {
	dir, err := isInsideDir(ctx, box, insidePath)
	if err != nil {
		return nil, err
	}
	if !dir {
		return nil, copyFileOut(ctx, box, insidePath, hostPath, o)
	}
	t, err := treesOf(box)
	if err != nil {
		return nil, err
	}
	dest := hostPath
	here, err := hostfile.OpenDir(hostPath, o.Writable)
	switch {
	case err == nil:
		_ = here.Close() // opened to read
		if !isContents(insidePath) {
			base, err := safeBase(insidePath)
			if err != nil {
				return nil, err
			}
			dest = filepath.Join(hostPath, base)
		}
	case errors.Is(err, syscall.ENOTDIR):
		return nil, sandbox.Errorf(sandbox.Exists, "%s is not a directory", hostPath)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, hostError(err)
	}
	r, err := t.Pack(ctx, insidePath)
	if err != nil {
		return nil, err
	}
	left, err = extract(ctx, r, dest, o)
	if err != nil {
		_ = r.Close() // the first error counts
		return left, err
	}
	return left, r.Close()
}

// extract creates the directory dest and extracts the archive in it.
func extract(ctx context.Context, r io.Reader, dest string, o OutOptions) ([]string, error) {
	root, err := makeDir(dest, o.Writable)
	if err != nil {
		return nil, hostError(err)
	}
	defer root.Close()
	left, err := Unpack(ctx, r, root, Options{Limits: o.Limits, Created: o.created(dest)})
	if err == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(r, maxTrailer)) // what follows an archive's end
	}
	return left, archiveError(err)
}

// makeDir opens a directory, and creates it if it does not exist.
func makeDir(name string, writable hostfile.Writable) (*os.Root, error) {
	parent, base, err := hostfile.OpenParent(strings.TrimRight(name, "/"), false, writable)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	if base != "." {
		if err := parent.Mkdir(base, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return hostfile.OpenDir(name, writable)
}

// maxTrailer is the number of bytes that are read after an archive's end: writers fill a block of 10 KiB.
const maxTrailer = 1 << 20

func copyFileOut(ctx context.Context, box *sandbox.Sandbox, insidePath, hostPath string, o OutOptions) error {
	root, name, err := openFilePlace(insidePath, hostPath, o.Writable)
	if err != nil {
		return err
	}
	defer root.Close()
	stat, err := box.Files().Stat(ctx, insidePath)
	if err != nil {
		return err
	}
	r, err := box.Files().Open(ctx, insidePath)
	if err != nil {
		return err
	}
	defer r.Close()
	if created := o.created(filepath.Dir(hostPath)); created != nil {
		if filepath.Base(hostPath) != name { // hostPath is a directory
			created = o.created(hostPath)
		}
		created(name)
	}
	mode := stat.Mode
	if !mode.IsRegular() { // a link to a file
		mode = 0o644
	}
	return fetchFile(ctx, r, root, name, mode.Perm(), stat.Time, o.Limits)
}

// openFilePlace returns the host's directory for a copy, and the copy's name there.
func openFilePlace(insidePath, hostPath string, writable hostfile.Writable) (*os.Root, string, error) {
	dir, err := hostfile.OpenDir(hostPath, writable)
	if err == nil {
		base, err := safeBase(insidePath)
		if err != nil {
			_ = dir.Close() // opened to read
		}
		return dir, base, err
	}
	slash := strings.HasSuffix(hostPath, "/")
	switch isFile := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR); {
	case isFile && slash:
		return nil, "", sandbox.Errorf(sandbox.NotFound, "%s is not a directory", hostPath)
	case !isFile && !isLinkToFile(hostPath):
		return nil, "", hostError(err)
	}
	dir, base, err := hostfile.OpenParent(hostPath, false, writable)
	return dir, base, hostError(err)
}

// isLinkToFile reports whether name is a link to a file, or a link without target. The copy replaces the link, so it
// need not be followed.
func isLinkToFile(name string) bool {
	if info, err := os.Lstat(name); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(name)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular()
}

// fetchFile writes a temporary file and renames it, so that base is replaced completely or not at all.
func fetchFile(ctx context.Context, r io.ReadCloser, root *os.Root, base string, perm fs.FileMode, at time.Time, l Limits) error {
	if info, err := root.Lstat(base); err == nil && !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink {
		return sandbox.Errorf(sandbox.Exists, "%s is not a regular file", base)
	}
	part := ".agent-sandbox-" + rand.Text() + ".part"
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return hostError(err)
	}
	defer func() { _ = root.Remove(part) }() // it was renamed on success
	limit := l.Bytes
	if limit <= 0 {
		limit = 1 << 62
	}
	n, err := io.CopyBuffer(plainWriter{f}, io.LimitReader(plainReader{ctx, r}, limit+1), make([]byte, bufferSize))
	if err == nil && n > limit {
		err = sandbox.Errorf(sandbox.Exhausted, "%w: more than %d bytes", ErrTooBig, limit)
	}
	if err == nil {
		err = r.Close()
	}
	if err = errors.Join(err, f.Chmod(perm), f.Close()); err != nil {
		return err
	}
	_ = root.Chtimes(part, time.Time{}, at) // some file systems do not support such times
	return hostError(root.Rename(part, base))
}

// safeBase returns the last element of a path inside, as a safe name on the host.
func safeBase(name string) (string, error) {
	base := path.Base(name)
	if base == "." || base == ".." || base == "/" || strings.ContainsRune(base, 0) {
		return "", sandbox.Errorf(sandbox.Invalid, "%s has no base name for the copy", name).
			WithHint("name the directory to create")
	}
	return base, nil
}

// hostError adds a code to an error of a file of the host.
func hostError(err error) error {
	if err == nil {
		return nil
	}
	return sandbox.Errorf(sandbox.CodeOf(err), "%w", err)
}

// archiveError adds a code to an error of an archive.
func archiveError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrTooBig):
		return sandbox.Errorf(sandbox.Exhausted, "%w", err)
	case errors.Is(err, ErrHostile), errors.Is(err, tar.ErrHeader), errors.Is(err, io.ErrUnexpectedEOF):
		return sandbox.Errorf(sandbox.Invalid, "%w", err)
	}
	return hostError(fmt.Errorf("%w", err))
}
