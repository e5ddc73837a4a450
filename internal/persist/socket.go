package persist

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// listen creates the sandbox's socket. The caller holds the lock, so an existing socket belongs to no process.
func (s Store) listen(name string) (l *net.UnixListener, err error) {
	dir := s.dir(name)
	if err := os.Remove(filepath.Join(dir, socketFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	err = session.Within(dir, socketFile, func(path string) error {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // the path of the listener refers to a closed descriptor later; serve removes the file
	return l, os.Chmod(filepath.Join(dir, socketFile), 0o600)
}

// startPause is the interval at which dial retries while a keeper starts or stops.
const startPause = 5 * time.Millisecond

// dial connects to a sandbox's keeper. It waits for one that is starting or stopping, by polling: the kernel has no event for
// the begin of listening. Closed: the sandbox is stopped.
func (s Store) dial(ctx context.Context, name string) (net.Conn, error) {
	for {
		conn, err := s.connect(ctx, name)
		if sandbox.CodeOf(err) != sandbox.Closed {
			return conn, err
		}
		if runs, rerr := s.Runs(name); rerr != nil || !runs {
			return nil, errors.Join(err, rerr)
		}
		select {
		case <-time.After(startPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// connect tries once to connect. Closed: no keeper listens.
func (s Store) connect(ctx context.Context, name string) (conn net.Conn, err error) {
	if _, err := os.Lstat(s.dir(name)); err != nil || CheckName(name) != nil {
		return nil, noSuch(name)
	}
	err = session.Within(s.dir(name), socketFile, func(path string) error {
		conn, err = (&net.Dialer{}).DialContext(ctx, "unix", path)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ECONNREFUSED) {
		return nil, isStopped(name)
	}
	return conn, err
}

func isStopped(name string) error {
	return sandbox.Errorf(sandbox.Closed, "sandbox %s is stopped", name).WithHint("'agent-sandbox start %s' starts it", name)
}
