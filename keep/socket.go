package keep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// A socket's name must be shorter than 108 bytes (unix(7)), whatever its directory's is: it is reached through
// an open directory.
func within(dir string, f func(path string) error) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return f(fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), socketFile))
}

// listen makes the sandbox's socket. The caller holds the lock, so what lies there is nobody's.
func (s Store) listen(name string) (l *net.UnixListener, err error) {
	dir := s.dir(name)
	if err := os.Remove(filepath.Join(dir, socketFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	err = within(dir, func(path string) error {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // its name is another's descriptor by then; close removes it
	return l, os.Chmod(filepath.Join(dir, socketFile), 0o600)
}

// dial connects to a sandbox's keeper. Closed: the sandbox is stopped.
func (s Store) dial(ctx context.Context, name string) (conn net.Conn, err error) {
	if _, err := os.Lstat(s.dir(name)); err != nil || CheckName(name) != nil {
		return nil, noSuch(name)
	}
	err = within(s.dir(name), func(path string) error {
		conn, err = (&net.Dialer{}).DialContext(ctx, "unix", path)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ECONNREFUSED) {
		return nil, sandbox.Errorf(sandbox.Closed, "sandbox %s is stopped", name).
			WithHint("'agent-sandbox start %s' starts it", name)
	}
	return conn, err
}
