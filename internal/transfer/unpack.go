package transfer

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Default limits of [Out].
const (
	DefaultBytes   = 64 << 30
	DefaultEntries = 1 << 20
)

// maxName is PATH_MAX.
const maxName = 4096

// Limits bound the content of an archive.
type Limits struct {
	Bytes   int64 // of all files, holes included; 0: unlimited
	Entries int64 // 0: unlimited
}

// Errors of an archive, for errors.Is.
var (
	ErrHostile = errors.New("the archive is malicious")
	ErrTooBig  = errors.New("the archive exceeds the limits")
)

// Options configure [Unpack].
type Options struct {
	Limits
	// AnyLink also creates symbolic links to targets outside of the tree, for a tree in a sandbox.
	AnyLink bool
	// Created is called with the name of each file and link before it is created; nil: it is not.
	Created func(name string)
}

// Unpack extracts the tar archive r below root. It replaces existing files and links, never writes through them, and
// merges directories. It fails with ErrHostile at a member with an absolute name or "..", at one below a symbolic link,
// and at one that would replace a directory by something else or the reverse; with ErrTooBig when the archive exceeds
// the limits. It omits links to targets outside of root, devices, pipes and sockets, and returns their names, or some
// of the names if they are many. Files get their times, and their permissions without set-ID and sticky bits; the user
// of this process owns them.
func Unpack(ctx context.Context, r io.Reader, root *os.Root, o Options) (left []string, err error) {
	u := &unpacker{ctx: ctx, root: root, tar: tar.NewReader(r), options: o, buf: make([]byte, bufferSize)}
	defer func() { err = errors.Join(err, u.close()) }()
	for {
		if err := ctx.Err(); err != nil {
			return u.left, err
		}
		h, err := u.tar.Next()
		if errors.Is(err, io.EOF) {
			return u.left, nil
		}
		if err != nil {
			return u.left, err
		}
		if err := u.member(h); err != nil {
			return u.left, err
		}
	}
}

type unpacker struct {
	ctx     context.Context //nolint:containedctx // of Unpack
	root    *os.Root
	tar     *tar.Reader
	options Options
	buf     []byte

	bytes, entries int64
	at             string   // the directory of the last member
	dir            *os.Root // at, opened; nil: root
	closed         []mode   // directories without write permission, which they get at the end
	left           []string
}

// maxLeft is the number of omitted names that are returned.
const maxLeft = 100

// mode is the final mode of a directory.
type mode struct {
	name string
	perm fs.FileMode
}

func (u *unpacker) close() error {
	var errs []error
	u.leave()
	for _, m := range slices.Backward(u.closed) {
		errs = append(errs, u.root.Chmod(m.name, m.perm))
	}
	return errors.Join(errs...)
}

// admit returns the name of a member to create, "" for an omitted one and the root itself.
func (u *unpacker) admit(h *tar.Header) (string, error) {
	u.entries++
	if u.options.Entries > 0 && u.entries > u.options.Entries {
		return "", fmt.Errorf("%w: more than %d entries", ErrTooBig, u.options.Entries)
	}
	if h.Typeflag == tar.TypeXGlobalHeader {
		return "", nil
	}
	name, err := cleanName(h.Name)
	if err != nil {
		return "", err
	}
	if name == "." {
		if h.Typeflag == tar.TypeDir {
			return "", nil
		}
		return "", fmt.Errorf("%w: a member without a name", ErrHostile)
	}
	switch h.Typeflag {
	case tar.TypeDir:
	case tar.TypeReg, tar.TypeGNUSparse:
		if h.Size < 0 || u.options.Bytes > 0 && h.Size > u.options.Bytes-u.bytes {
			return "", fmt.Errorf("%w: more than %d bytes", ErrTooBig, u.options.Bytes)
		}
		u.bytes += h.Size
	case tar.TypeSymlink:
		if !u.options.AnyLink && canLeave(name, h.Linkname) {
			u.leaveOut(name)
			return "", nil
		}
	case tar.TypeLink:
		if _, err := cleanName(h.Linkname); err != nil {
			return "", err
		}
	default:
		u.leaveOut(name)
		return "", nil
	}
	if h.Typeflag != tar.TypeDir && u.options.Created != nil {
		u.options.Created(name)
	}
	return name, nil
}

func (u *unpacker) member(h *tar.Header) error {
	name, err := u.admit(h)
	if err != nil || name == "" {
		return err
	}
	if err := u.enter(path.Dir(name)); err != nil {
		return err
	}
	base := path.Base(name)
	switch h.Typeflag {
	case tar.TypeDir:
		return u.directory(name, base, perm(h))
	case tar.TypeReg, tar.TypeGNUSparse:
		return u.file(name, base, h)
	case tar.TypeSymlink:
		return u.place(name, base, func() error { return u.here().Symlink(h.Linkname, base) })
	}
	return u.hardLink(name, path.Clean(h.Linkname))
}

// cleanName returns the clean name of a member, or ErrHostile if it would not be below the tree.
func cleanName(name string) (string, error) {
	switch {
	case len(name) > maxName || strings.ContainsRune(name, 0):
		return "", fmt.Errorf("%w: %.100q is not a name", ErrHostile, name)
	case strings.HasPrefix(name, "/"):
		return "", fmt.Errorf("%w: %.100q is absolute", ErrHostile, name)
	case slices.Contains(strings.Split(name, "/"), ".."):
		return "", fmt.Errorf("%w: %.100q leads out", ErrHostile, name)
	}
	return path.Clean(name), nil
}

// canLeave reports whether the target of a symbolic link may be outside of the tree. A ".." after a name may follow a
// link of the tree, so it counts as outside.
func canLeave(name, target string) bool {
	if strings.HasPrefix(target, "/") || target == "" || len(target) > maxName || strings.ContainsRune(target, 0) {
		return true
	}
	depth := strings.Count(name, "/")
	named := false
	for part := range strings.SplitSeq(target, "/") {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth < 0 || named {
				return true
			}
		default:
			named = true
			depth++
		}
	}
	return false
}

func perm(h *tar.Header) fs.FileMode { return fs.FileMode(h.Mode) & 0o777 }

func (u *unpacker) leaveOut(name string) {
	if len(u.left) < maxLeft {
		u.left = append(u.left, name)
	}
}

func (u *unpacker) here() *os.Root {
	if u.dir == nil {
		return u.root
	}
	return u.dir
}

func (u *unpacker) leave() {
	if u.dir != nil {
		_ = u.dir.Close() // opened to read
	}
	u.at, u.dir = ".", nil
}

// enter opens the directory of a member, and creates missing ones. It follows no link.
func (u *unpacker) enter(dir string) error {
	if dir == u.at || dir == "." && u.dir == nil {
		return nil
	}
	u.leave()
	if dir == "." {
		return nil
	}
	at := u.root
	for part := range strings.SplitSeq(dir, "/") {
		next, err := openChild(at, part)
		if at != u.root {
			_ = at.Close()
		}
		if err != nil {
			return fmt.Errorf("%w: %.100q: %w", ErrHostile, dir, err)
		}
		at = next
	}
	u.at, u.dir = dir, at
	return nil
}

var errNoDirectory = errors.New("not a directory")

// openChild opens a directory below at.
func openChild(at *os.Root, name string) (*os.Root, error) {
	info, err := at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = at.Mkdir(name, 0o755)
		if err == nil {
			return at.OpenRoot(name)
		}
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNoDirectory
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	// Another process may have replaced it by a link.
	if opened, err := next.Stat("."); err != nil || !os.SameFile(info, opened) {
		_ = next.Close()
		return nil, errNoDirectory
	}
	return next, nil
}

func (u *unpacker) directory(name, base string, perm fs.FileMode) error {
	err := u.here().Mkdir(base, 0o700)
	if errors.Is(err, fs.ErrExist) {
		info, lerr := u.here().Lstat(base)
		if lerr == nil && info.IsDir() {
			return nil
		}
		return fmt.Errorf("%w: %.100q would replace something other than a directory", ErrHostile, name)
	}
	if err != nil {
		return err
	}
	if perm&0o700 != 0o700 {
		u.closed = append(u.closed, mode{name, perm})
		return nil
	}
	return u.here().Chmod(base, perm)
}

// place removes an existing entry, which must not be a directory, and calls put.
func (u *unpacker) place(name, base string, put func() error) error {
	err := put()
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := u.here().Lstat(base)
	if err == nil && info.IsDir() {
		return fmt.Errorf("%w: %.100q would replace a directory", ErrHostile, name)
	}
	if err == nil {
		err = u.here().Remove(base)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return put()
}

func (u *unpacker) file(name, base string, h *tar.Header) error {
	return u.place(name, base, func() error {
		f, err := u.here().OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		err = u.content(f, h.Size)
		if err == nil {
			err = f.Chmod(perm(h))
		}
		err = errors.Join(err, f.Close())
		if err == nil && !h.ModTime.IsZero() {
			_ = u.here().Chtimes(base, time.Time{}, h.ModTime) // some file systems do not support such times
		}
		return err
	})
}

// content writes a file, with holes for blocks of zeros.
func (u *unpacker) content(f *os.File, size int64) error {
	var done int64
	hole := false
	for done < size {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(u.tar, u.buf[:min(int64(len(u.buf)), size-done)])
		if err != nil {
			return fmt.Errorf("the archive ends too early: %w", io.ErrUnexpectedEOF)
		}
		if hole = n == len(u.buf) && isZero(u.buf[:n]); !hole {
			if _, err := f.WriteAt(u.buf[:n], done); err != nil {
				return err
			}
		}
		done += int64(n)
	}
	if hole {
		return f.Truncate(size)
	}
	return nil
}

// isZero reports whether p contains only zeros. p must not be empty.
func isZero(p []byte) bool { return p[0] == 0 && bytes.Equal(p[1:], p[:len(p)-1]) }

// hardLink creates a second name for a file of the tree.
func (u *unpacker) hardLink(name, old string) error {
	info, err := u.root.Lstat(old)
	if err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %.100q is a hard link to something other than a file", ErrHostile, name)
	}
	if old == name {
		return nil
	}
	return u.place(name, path.Base(name), func() error { return u.root.Link(old, name) })
}
