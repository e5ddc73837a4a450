package hostdir

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Look is a view of the unapplied changes of a mount at one moment, beside the host's state.
type Look struct {
	Changes []vfs.Change // those of [Mount.Diff]
	Now     Side         // the tree at that moment; what it takes of a file of the host that has changed since is ESTALE
	Host    Side         // the host's directory as it is
	mount   *Mount
}

// Side is one of two trees. Names are those of changes; no link is followed, and a path through one is ErrNotExist.
type Side interface {
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	Open(name string) (io.ReadCloser, error) // a regular file
}

// Look returns the present view. The caller is done with it before it closes the mount.
func (m *Mount) Look() (*Look, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	changes, now, err := m.diff()
	if err != nil {
		return nil, err
	}
	tree := now.FS(vfs.Options{NoAtime: true})
	return &Look{Changes: changes, Now: memorySide{tree, m.at}, Host: hostSide{m.root}, mount: m}, nil
}

// Conflict says why only a forced [Mount.Apply] takes a change: another process changed the path later; "": no conflict.
func (l *Look) Conflict(c vfs.Change) string {
	l.mount.mu.Lock()
	defer l.mount.mu.Unlock()
	return l.mount.conflict(c, l.Host.Lstat)
}

type memorySide struct {
	tree *vfs.FS
	at   string
}

func (s memorySide) Lstat(name string) (fs.FileInfo, error) {
	info, err := s.tree.Lstat(vfs.Cred{}, s.at+"/"+name)
	if err != nil {
		return nil, err
	}
	return info.FileInfo(), nil
}

func (s memorySide) Readlink(name string) (string, error) {
	return s.tree.Readlink(vfs.Cred{}, s.at+"/"+name)
}

func (s memorySide) Open(name string) (io.ReadCloser, error) {
	f, err := s.tree.OpenFile(context.Background(), vfs.Cred{}, s.at+"/"+name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return f, nil
}

type hostSide struct{ root *os.Root }

func (s hostSide) Lstat(name string) (fs.FileInfo, error) {
	info, err := lstat(s.root, name)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, err
	case err != nil:
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	}
	return info, nil
}

func (s hostSide) Readlink(name string) (string, error) { return s.root.Readlink(name) }

func (s hostSide) Open(name string) (io.ReadCloser, error) {
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return f, nil
}
