package session

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"github.com/seed434b0696/agent-sandbox/internal/announced"
	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Connections of programs without proxy support are redirected to a relay: the guard inside asks the host whether a program may
// connect to an address (frameAsk), connects it to the relay instead, and the guest states the address when it passes on the
// connection (frameRedirected). The host does not trust the guest, so the relay's server decides about the address again.

// maxAsked limits the connections about which the guest asks at one time; others wait.
const maxAsked = 64

// redirectedTo is the content of a frameRedirected.
type redirectedTo struct {
	Relay string         `json:"relay"`
	To    netip.AddrPort `json:"to"`
}

// Destination returns the address to which a program inside wanted to connect, for connections that were redirected to a
// relay. The guest states it, so it can be any address.
func (r redirectedTo) Destination() netip.AddrPort { return r.To }
func (r redirectedTo) Network() string             { return "relay" }
func (r redirectedTo) String() string              { return r.Relay + " instead of " + r.To.String() }

// Permit sets the function that decides whether a program inside may connect to an address, for a Setup that redirects connections.
// It is called from several goroutines. Without it, or when it returns an error, the connection fails. The relay's connections that
// were redirected have a remote address with the method Destination, see [Setup].
func (c *Connection) Permit(decide func(to netip.AddrPort) error) {
	c.relays.mu.Lock()
	defer c.relays.mu.Unlock()
	c.relays.permit = decide
}

// answer answers a frameAsk.
func (r *relays) answer(s *mux.Stream, data []byte) {
	defer s.Close()
	r.mu.Lock()
	permit := r.permit
	r.mu.Unlock()
	to, err := netip.ParseAddrPort(string(data))
	if err == nil && permit == nil {
		err = sandbox.Errorf(sandbox.Denied, "the sandbox redirects no connections")
	}
	if err == nil {
		err = permit(to)
	}
	out := &frameWriter{w: s}
	if err != nil {
		out.fail(failure{Code: sandbox.CodeOf(err), Text: err.Error()})
		return
	}
	_ = out.frame(frameBegun, make([]byte, 4)) // an error means that the guest has gone
}

// redirecting is the guest's end of redirected connections.
type redirecting struct {
	relay    string // its name
	expected announced.Connections[netip.AddrPort]
	slots    chan struct{}
}

var errNotPermitted = errors.New("the host does not permit the connection")

// ask returns an error unless the host permits a connection.
func (r *relaying) ask(ctx context.Context, to netip.AddrPort) error {
	select {
	case r.redirects.slots <- struct{}{}:
		defer func() { <-r.redirects.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	s, err := r.mux.Open()
	if err != nil {
		return err
	}
	defer s.Close()
	if err := writeFrame(s, frameAsk, []byte(to.String())); err != nil {
		return err
	}
	kind, _, err := (&frameReader{r: s}).next()
	if err == nil && kind != frameBegun {
		err = errNotPermitted
	}
	return err
}

// redirect makes the relay of that name the one to which connections are redirected.
func (r *relaying) redirect(list []Relay, name string) (at netip.AddrPort, err error) {
	for _, relay := range list {
		if relay.Name != name {
			continue
		}
		if at, err = netip.ParseAddrPort(relay.Listen); err != nil || !at.Addr().Is4() {
			break
		}
		r.redirects = &redirecting{relay: name, slots: make(chan struct{}, maxAsked)}
		return at, nil
	}
	return at, sandbox.Errorf(sandbox.Invalid, "no relay %q on an IPv4 address, to which connections are redirected", name)
}

// destination returns where a connection of a relay leads, if it was redirected.
func (r *relaying) destination(inside net.Conn, relay string) (to netip.AddrPort, ok bool) {
	from, isTCP := inside.RemoteAddr().(*net.TCPAddr)
	if r.redirects == nil || r.redirects.relay != relay || !isTCP {
		return to, false
	}
	return r.redirects.expected.Take(uint16(from.Port))
}
