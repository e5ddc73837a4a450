package session

import (
	"context"
	"encoding/json"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxSocketPath limits the path of a Unix socket (unix(7)).
const maxSocketPath = 107

// Listen listens inside, at any time and any number of times, on "127.0.0.1:PORT", "[::1]:PORT" or "unix:/PATH", and
// returns when the address accepts connections. Exists: the address is in use. The listener ends with the session or with Close,
// which waits until the guest has stopped listening; ctx limits only the start. Accepted connections have CloseWrite and outlive
// the listener.
func (c *Connection) Listen(ctx context.Context, address string) (net.Listener, error) {
	r := Relay{Name: "listen " + strconv.FormatInt(c.relays.next.Add(1), 10), Listen: address}
	if err := r.check(); err != nil {
		return nil, err
	}
	if t := r.address(); t.Network == "unix" && len(t.Addr) > maxSocketPath {
		return nil, sandbox.Errorf(sandbox.Invalid, "the path of a socket has %d bytes, %d at most", len(t.Addr), maxSocketPath)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	l := c.Listener(r.Name)
	s, err := c.ask(ctx, frameListen, data)
	if err != nil {
		_ = l.Close()
		return nil, c.deaf(err)
	}
	return &listening{Listener: l, stream: s, addr: relayAddr(address)}, nil
}

// deaf returns the error for a guest that does not support listening.
func (c *Connection) deaf(err error) error {
	select {
	case <-c.Done():
		return err
	default:
	}
	if sandbox.CodeOf(err) != sandbox.Closed {
		return err
	}
	return sandbox.Errorf(sandbox.Unsupported, "the sandbox was created by a version that cannot listen inside").
		WithHint("create the sandbox anew")
}

// listening is a relay that listens until it is closed.
type listening struct {
	net.Listener

	stream *mux.Stream
	addr   relayAddr
	once   sync.Once
}

// closeTime limits the time for the guest to stop listening.
const closeTime = 5 * time.Second

// Close stops listening inside.
func (l *listening) Close() error {
	err := l.Listener.Close()
	l.once.Do(func() {
		_, _ = l.stream.CloseWrite(), l.stream.SetReadDeadline(time.Now().Add(closeTime))
		_, _ = l.stream.Read(make([]byte, 1)) // the end of the stream: the guest has stopped listening
		_ = l.stream.Close()
	})
	return err
}

// Addr returns its address inside.
func (l *listening) Addr() net.Addr { return l.addr }

// listen answers a frameListen, and forwards connections until the client closes the stream.
func (a *asked) listen(ctx context.Context, data []byte, stream *mux.Stream, s server, over *mux.Session) {
	var r Relay
	err := json.Unmarshal(data, &r)
	if err == nil {
		err = r.check()
	}
	var l net.Listener
	if err == nil {
		l, err = s.listen(ctx, r)
	}
	if err != nil {
		a.refuse(err)
		return
	}
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	carried := newRelaying(ctx, over, nil)
	defer carried.all.Wait()
	if a.begun() == nil {
		carried.all.Go(func() { carried.accept(l, r.Name) })
		_, _, _ = a.frames.next() // a client sends no more frames: this is its end
	}
	_ = l.Close()
	_ = stream.Close()
}
