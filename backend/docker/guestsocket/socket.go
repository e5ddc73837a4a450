// Package guestsocket carries the session with the guest of a container: over a Unix socket of this host that is mounted
// into the container, or over the container's attached standard streams.
package guestsocket

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
)

// File is the socket's name in its directory.
const File = "session"

// Socket is a listening socket of this host, to which the guest in a container connects before any command runs. Its data does
// not go through the engine or its shim. A nil Socket listens nowhere: the guest uses its standard streams.
type Socket struct {
	listener *net.UnixListener
	path     string
	accepted chan *net.UnixConn
	closed   chan struct{}
}

// Open listens in dir, which it creates for this user only. It replaces the socket of an earlier Open. The caller closes it.
func Open(dir string) (*Socket, error) {
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700)); err != nil {
		return nil, err
	}
	s := &Socket{path: filepath.Join(dir, File), accepted: make(chan *net.UnixConn), closed: make(chan struct{})}
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	err := session.Within(dir, File, func(path string) (err error) {
		s.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		return err
	})
	if err != nil {
		_ = os.Remove(dir) // it is empty
		return nil, err
	}
	s.listener.SetUnlinkOnClose(false) // the path with which it was opened contains a descriptor that is closed by then
	go s.accept()
	if err := os.Chmod(s.path, 0o666); err != nil { // the guest may run as any user; dir keeps other users out
		s.Close()
		return nil, err
	}
	return s, nil
}

// accept accepts one connection after the other until Close.
func (s *Socket) accept() {
	for {
		conn, err := s.listener.AcceptUnix()
		if err != nil {
			return
		}
		select {
		case s.accepted <- conn:
		case <-s.closed:
			_ = conn.Close()
			return
		}
	}
}

// Path returns the path of the socket on the host, "" for a nil Socket.
func (s *Socket) Path() string {
	if s == nil {
		return ""
	}
	return s.path
}

// Close stops listening and removes the socket: inside, connecting to it fails from then on.
func (s *Socket) Close() {
	if s == nil {
		return
	}
	close(s.closed)
	_ = s.listener.Close()
	_, _ = os.Remove(s.path), os.Remove(filepath.Dir(s.path)) // they may have been removed with the sandbox's other files
}

// Accept waits for the guest of the attached container and returns the connection that it uses: the socket, or the
// attached streams. When ctx ends, it closes the attached streams.
func (s *Socket) Accept(ctx context.Context, attached *Stream) io.ReadWriteCloser {
	if s == nil {
		return attached
	}
	stop := context.AfterFunc(ctx, func() { _ = attached.Close() })
	defer stop()
	output := make(chan struct{})
	go func() { // this read continues after Accept: it collects the guest's standard error
		_ = attached.await() // the next Read returns the error
		close(output)
	}()
	select {
	case conn := <-s.accepted:
		go func() { // as without a socket, the session ends with the engine: nothing runs that the engine does not know
			<-output
			_ = conn.Close()
		}()
		return both{conn, attached}
	case <-output:
		return attached
	}
}

// both is the connection of a guest over the socket, whose container stays attached.
type both struct {
	*net.UnixConn

	attached *Stream
}

// Close ends the guest.
func (b both) Close() error { return errors.Join(b.UnixConn.Close(), b.attached.Close()) }
