package docker

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/moby/moby/api/types/mount"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
)

// door is a socket of this host that stands in a container until its guest has come through it, which it does before
// any command runs. What is said there passes neither the engine nor its shim. A nil door is none: the guest speaks over
// its standard streams.
type door struct {
	listener *net.UnixListener
	path     string
	came     chan *net.UnixConn
	closed   chan struct{}
}

const (
	doorFile = "session"
	doorDir  = "door"  // in a sandbox's State
	doors    = "doors" // of the others
)

// frame returns the door's own directory. For a sandbox that goes on it is always the same one, because it is part of the
// container; otherwise its name tells whose it is.
func (p *prepared) frame() string {
	if p.state.persistent() {
		return filepath.Join(p.state.dir, doorDir)
	}
	return p.driver.dir(doors, owner(os.Getpid())+" "+p.id)
}

// sweepDoors removes those of processes that have ended. What cannot be removed now is for the next time.
func (d *Driver) sweepDoors() {
	entries, err := os.ReadDir(d.dir(doors))
	if err != nil {
		return
	}
	for _, e := range entries {
		if whose := e.Name()[:max(0, strings.LastIndexByte(e.Name(), ' '))]; abandoned(whose) {
			_ = os.RemoveAll(d.dir(doors, e.Name()))
		}
	}
}

// openDoor returns nil where the engine's containers run on another kernel, which no socket of this one reaches. The
// caller closes it.
func (p *prepared) openDoor() (*door, error) {
	if !p.sameKernel {
		return nil, nil //nolint:nilnil // a nil door is one
	}
	dir := p.frame() // through which nobody else of this host gets
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700)); err != nil {
		return nil, err
	}
	d := &door{path: filepath.Join(dir, doorFile), came: make(chan *net.UnixConn), closed: make(chan struct{})}
	if err := os.Remove(d.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	err := session.Within(dir, doorFile, func(path string) (err error) {
		d.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		return err
	})
	if err != nil {
		_ = os.Remove(dir) // it is empty
		return nil, err
	}
	d.listener.SetUnlinkOnClose(false) // its name is another's descriptor by then
	go d.accept()
	if err := os.Chmod(d.path, 0o666); err != nil { // whoever the guest runs as
		d.close()
		return nil, err
	}
	return d, nil
}

// accept lets in who comes, one after the other, until close.
func (d *door) accept() {
	for {
		conn, err := d.listener.AcceptUnix()
		if err != nil {
			return
		}
		select {
		case d.came <- conn:
		case <-d.closed:
			_ = conn.Close()
			return
		}
	}
}

// mounts show the door inside.
func (d *door) mounts() []mount.Mount {
	if d == nil {
		return nil
	}
	return []mount.Mount{bind(d.path, layout.SessionSocket, true)}
}

// close shuts it for good: to those inside it is a socket at which nobody listens.
func (d *door) close() {
	if d == nil {
		return
	}
	close(d.closed)
	_ = d.listener.Close()
	_, _ = os.Remove(d.path), os.Remove(filepath.Dir(d.path)) // they may be gone with all else of the sandbox
}

// meet waits for the guest of the container that is attached, and returns the connection of its choice.
func (d *door) meet(ctx context.Context, attached *stream) io.ReadWriteCloser {
	if d == nil {
		return attached
	}
	stop := context.AfterFunc(ctx, func() { _ = attached.Close() })
	defer stop()
	spoke := make(chan struct{})
	go func() { // also later: what it writes to its standard error is kept
		_ = attached.await() // an error is told to the next reader
		close(spoke)
	}()
	select {
	case conn := <-d.came:
		go func() { // as without a door: the session ends with the engine, and nothing runs that it does not know of
			<-spoke
			_ = conn.Close()
		}()
		return through{conn, attached}
	case <-spoke:
		return attached
	}
}

// through is the connection of a guest that came through the door.
type through struct {
	*net.UnixConn

	attached *stream
}

// Close ends the guest.
func (t through) Close() error { return errors.Join(t.UnixConn.Close(), t.attached.Close()) }
