package session

import (
	"encoding/json"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Limits of the streams that the guest may open.
const (
	maxRelayName = 255
	maxRelayed   = 256 // connections at one time; each may hold a stream's window of memory
	nameTime     = 10 * time.Second
)

// Relay is a listener inside. The [Connection.Listener] of its name serves its connections outside.
type Relay struct {
	Name   string `json:"name"`
	Listen string `json:"listen"` // "127.0.0.1:3128", "[::1]:3128", "unix:/path"
}

// address splits Listen for package net.
func (r Relay) address() target {
	if path, ok := strings.CutPrefix(r.Listen, "unix:"); ok {
		return target{"unix", path}
	}
	return target{"tcp", r.Listen}
}

func (r Relay) check() error {
	if r.Name == "" || len(r.Name) > maxRelayName {
		return sandbox.Errorf(sandbox.Invalid, "a relay's name has %d bytes, 1 to %d are possible", len(r.Name), maxRelayName)
	}
	t := r.address()
	if _, ok := t.port(); ok {
		return sandbox.Errorf(sandbox.Invalid, "relay %s listens on an address, not on a name", r.Name)
	}
	return t.check()
}

// relays are the host's ends, by name.
type relays struct {
	end  <-chan struct{}
	next atomic.Int64 // number of the listener

	mu     sync.Mutex
	all    map[string]*relayListener
	permit func(to netip.AddrPort) error // nil: no connection is redirected
}

// Listener accepts the connections that programs inside make to the relay of that name. The session closes connections
// without a listener, so create it before Setup. A second listener of the same name replaces the first.
func (c *Connection) Listener(name string) net.Listener {
	l := &relayListener{relays: c.relays, name: name, conns: make(chan net.Conn), done: make(chan struct{})}
	c.relays.mu.Lock()
	defer c.relays.mu.Unlock()
	c.relays.all[name] = l
	return l
}

// accept accepts the streams that the guest opens until the session ends.
func (r *relays) accept(m *mux.Session) {
	slots := make(chan struct{}, maxRelayed)
	for {
		s, err := m.Accept()
		if err != nil {
			return
		}
		select {
		case slots <- struct{}{}:
			go r.take(s, func() { <-slots })
		case <-r.end:
			return
		}
	}
}

// take passes a connection to the listener that its first frame names, or answers a question.
func (r *relays) take(s *mux.Stream, free func()) {
	_ = s.SetReadDeadline(time.Now().Add(nameTime)) // documented to return nil
	kind, data, err := (&frameReader{r: s}).next()
	var name string
	var remote net.Addr
	switch {
	case err != nil:
	case kind == frameAsk:
		defer free()
		r.answer(s, data)
		return
	case kind == frameRelay:
		name = string(data)
		remote = relayAddr(name)
	case kind == frameRedirected:
		var to redirectedTo
		if err = json.Unmarshal(data, &to); err == nil && !to.To.IsValid() {
			err = errFrame
		}
		name, remote = to.Relay, to
	default:
		err = errFrame
	}
	c := newConn(s, remote, free)
	r.mu.Lock()
	l := r.all[name]
	r.mu.Unlock()
	if err != nil || l == nil {
		_ = c.Close()
		return
	}
	_ = s.SetReadDeadline(time.Time{})
	select {
	case l.conns <- c:
	case <-l.done:
		_ = c.Close()
	case <-r.end:
		_ = c.Close()
	}
}

// relayListener is a relay as a net.Listener.
type relayListener struct {
	relays *relays
	name   string
	conns  chan net.Conn
	done   chan struct{}
	once   sync.Once
}

// Accept returns the next connection; net.ErrClosed after Close and after the end of the session.
func (l *relayListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
	case <-l.relays.end:
	}
	return nil, &net.OpError{Op: "accept", Net: "relay", Addr: l.Addr(), Err: net.ErrClosed}
}

// Close stops accepting. Accepted connections continue.
func (l *relayListener) Close() error {
	l.once.Do(func() {
		close(l.done)
		l.relays.mu.Lock()
		defer l.relays.mu.Unlock()
		if l.relays.all[l.name] == l {
			delete(l.relays.all, l.name)
		}
	})
	return nil
}

func (l *relayListener) Addr() net.Addr { return relayAddr(l.name) }

// relayAddr names a relay.
type relayAddr string

func (relayAddr) Network() string  { return "relay" }
func (a relayAddr) String() string { return string(a) }
