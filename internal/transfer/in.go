package transfer

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// trees is implemented by the files of sandboxes that support directories.
type trees interface {
	sandbox.Files
	sandbox.Maker
	sandbox.Archiver
}

func treesOf(box *sandbox.Sandbox) (trees, error) {
	t, ok := box.Files().(trees)
	if !ok {
		return nil, sandbox.Errorf(sandbox.Unsupported, "this sandbox does not support directory transfer")
	}
	return t, nil
}

// In copies a file or directory of the host into a sandbox, with the name that cp would use: below insidePath if that
// is an existing directory, unless hostPath ends with "/.", which means the directory's content; otherwise insidePath
// itself, whose parent must exist. A name with a trailing slash means a directory. In follows hostPath itself if it is
// a symbolic link, but not one that commands could have made; see [hostfile.Writable].
func In(ctx context.Context, box *sandbox.Sandbox, hostPath, insidePath string, writable hostfile.Writable) error {
	root, err := hostfile.OpenDir(hostPath, writable)
	if errors.Is(err, syscall.ENOTDIR) && !strings.HasSuffix(hostPath, "/") {
		return copyFileIn(ctx, box, hostPath, insidePath, writable)
	}
	if err != nil {
		return hostError(err)
	}
	defer root.Close()
	info, err := root.Stat(".")
	if err != nil {
		return hostError(err)
	}
	dest, exists, err := resolveInside(ctx, box, hostPath, insidePath, true)
	if err != nil {
		return err
	}
	t, err := treesOf(box)
	if err != nil {
		return err
	}
	if !exists {
		if err := t.Mkdir(ctx, dest, info.Mode().Perm()); err != nil {
			return err
		}
	}
	r, w := io.Pipe()
	packed := make(chan struct{})
	go func() {
		defer close(packed)
		_ = w.CloseWithError(Pack(ctx, w, root)) // documented to return nil
	}()
	err = t.Unpack(ctx, dest, r)
	_ = r.Close() // documented to return nil
	<-packed
	return err
}

func copyFileIn(ctx context.Context, box *sandbox.Sandbox, hostPath, insidePath string, writable hostfile.Writable) error {
	f, err := hostfile.Open(hostPath, os.O_RDONLY, 0, writable)
	if err != nil {
		return hostError(err)
	}
	defer f.Close()
	dest, _, err := resolveInside(ctx, box, hostPath, insidePath, false)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return hostError(err)
	}
	if !info.Mode().IsRegular() {
		return sandbox.Errorf(sandbox.Invalid, "%s is neither a file nor a directory", hostPath)
	}
	return box.Files().Create(ctx, dest, info.Mode().Perm(), plainReader{ctx, f})
}

// resolveInside returns the destination inside, and whether it is an existing directory.
func resolveInside(ctx context.Context, box *sandbox.Sandbox, from, to string, dir bool) (dest string, exists bool, err error) {
	isDir, err := isInsideDir(ctx, box, to)
	switch {
	case err != nil:
		return "", false, err
	case isDir && dir && isContents(from):
		return to, true, nil
	case isDir:
		base := filepath.Base(from)
		if base == "." || base == ".." || base == "/" {
			if dir {
				return to, true, nil
			}
			return "", false, sandbox.Errorf(sandbox.Invalid, "%s has no name", from)
		}
		dest = path.Join(to, base)
		if dir {
			exists, err = isInsideDir(ctx, box, dest)
		}
		return dest, exists, err
	case strings.HasSuffix(to, "/") && !dir:
		return "", false, sandbox.Errorf(sandbox.NotFound, "%s is not a directory in the sandbox", to)
	}
	if parent := path.Dir(strings.TrimRight(to, "/")); parent != "." {
		if isDir, err = isInsideDir(ctx, box, parent); err == nil && !isDir {
			err = sandbox.Errorf(sandbox.NotFound, "%s is not a directory in the sandbox", parent)
		}
	}
	return strings.TrimRight(to, "/"), false, err
}

// isInsideDir reports whether a name inside is a directory or a link to one.
func isInsideDir(ctx context.Context, box *sandbox.Sandbox, name string) (bool, error) {
	info, err := box.Files().Stat(ctx, strings.TrimRight(name, "/")+"/.")
	switch code := sandbox.CodeOf(err); {
	case err == nil:
		return info.Mode.IsDir(), nil
	case code == sandbox.NotFound || code == sandbox.Invalid: // a path below a file does not exist
		return false, nil
	}
	return false, err
}

// isContents reports whether a name stands for the content of a directory.
func isContents(name string) bool { return strings.HasSuffix(name, "/.") || name == "." }
