//go:build linux

package session_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// asGuest returns the host's end of a session, and the other end as a hostile guest has it.
func asGuest(t *testing.T) (*session.Connection, *mux.Session) {
	t.Helper()
	ours, theirs := net.Pipe()
	guests := make(chan *mux.Session, 1)
	go func() {
		defer close(guests)
		const greeting = "agent-sandbox session 3\n"
		go func() { _, _ = io.WriteString(theirs, greeting) }()
		if _, err := io.ReadFull(theirs, make([]byte, len(greeting))); err == nil {
			guests <- mux.Server(theirs, bufio.NewReader(theirs))
		}
	}()
	c, err := session.Connect(t.Context(), ours)
	if err != nil {
		t.Fatal(err)
	}
	m := <-guests
	t.Cleanup(func() { _, _ = c.Close(), m.Close() })
	return c, m
}

// The host answers a guest's questions about connections, and permits none by default.
func Test_Only_Permitted_Connections_Are_Redirected(t *testing.T) {
	for _, row := range []struct {
		name, question string
		permit         func(netip.AddrPort) error
		want           byte
	}{
		{"without a decision", "192.0.2.1:443", nil, 'f'},
		{"permitted", "192.0.2.1:443", func(netip.AddrPort) error { return nil }, 'b'},
		{"permitted, with IPv6", "[2001:db8::1]:443", func(netip.AddrPort) error { return nil }, 'b'},
		{"refused", "192.0.2.1:443", func(netip.AddrPort) error { return errors.New("no rule") }, 'f'},
		{"a name", "example.com:443", func(netip.AddrPort) error { return nil }, 'f'},
		{"nothing", "", func(netip.AddrPort) error { return nil }, 'f'},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, m := asGuest(t)
			if row.permit != nil {
				c.Permit(row.permit)
			}
			s, err := m.Open()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(s, frame('q', row.question)); err != nil {
				t.Fatal(err)
			}
			if answer, err := io.ReadAll(s); err != nil || len(answer) == 0 || answer[0] != row.want {
				t.Errorf("%q, %v, want %q", answer, err, row.want)
			}
		})
	}
}

// The server of a relay gets the destination that the guest states, and no connection without a valid one.
func Test_A_Redirected_Connection_Has_Its_Destination(t *testing.T) {
	c, m := asGuest(t)
	l := c.Listener("proxy")
	for _, bad := range []string{"", "{}", `{"relay":"proxy"}`, `{"relay":"proxy","to":"example.com:443"}`, `{"relay":"other","to":"192.0.2.1:443"}`} {
		s, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(s, frame('p', bad)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(s); err != nil { // it is closed
			t.Errorf("%s: %v", bad, err)
		}
	}
	s, err := m.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(s, frame('p', `{"relay":"proxy","to":"192.0.2.1:443"}`)); err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Second))
	at, ok := conn.RemoteAddr().(interface{ Destination() netip.AddrPort })
	if !ok || at.Destination().String() != "192.0.2.1:443" {
		t.Errorf("%v", conn.RemoteAddr())
	}
}

func Test_A_Setup_That_Redirects_To_Nothing_Is_Rejected(t *testing.T) {
	relay := []session.Relay{{Name: "proxy", Listen: "127.0.0.1:0"}}
	for name, setup := range map[string]session.Setup{
		"no guard":         {Relays: relay, Redirect: "proxy"},
		"another relay":    {Relays: relay, Redirect: "other", Guard: &guard.Rules{}},
		"a Unix socket":    {Relays: []session.Relay{{Name: "proxy", Listen: "unix:" + t.TempDir() + "/s"}}, Redirect: "proxy", Guard: &guard.Rules{}},
		"a relay of IPv6":  {Relays: []session.Relay{{Name: "proxy", Listen: "[::1]:3128"}}, Redirect: "proxy", Guard: &guard.Rules{}},
		"no relays at all": {Redirect: "proxy", Guard: &guard.Rules{}},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := guest(t)
			if err := c.Setup(t.Context(), setup); sandbox.CodeOf(err) != sandbox.Invalid {
				t.Error(err)
			}
		})
	}
}
