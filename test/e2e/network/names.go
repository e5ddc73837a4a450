//go:build linux

package network

import (
	"net"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// flipName resolves to a public address the first time, then to the host's
// loopback, as in DNS rebinding.
const flipName = "flip.test"

var flips = []string{"93.184.216.19", "127.0.0.1"}

// nameServer answers over UDP.
type nameServer struct {
	conn net.PacketConn

	mu    sync.Mutex
	asked []string
	flips int
}

func newNameServer(addr string) (*nameServer, error) {
	conn, err := net.ListenPacket("udp", addr+":53") //nolint:noctx // as long as the tests
	if err != nil {
		return nil, err
	}
	return &nameServer{conn: conn}, nil
}

func (s *nameServer) serve() {
	buf := make([]byte, 4096)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if out, err := s.answer(buf[:n]); err == nil {
			_, _ = s.conn.WriteTo(out, from) // the client may have disconnected
		}
	}
}

func (s *nameServer) answer(query []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) == 0 {
		return nil, err
	}
	q := m.Questions[0]
	m.Response, m.Authoritative, m.RecursionAvailable, m.Additionals = true, true, true, nil
	found := s.lookup(strings.ToLower(strings.TrimSuffix(q.Name.String(), ".")), q.Type)
	if found == nil {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, text := range found {
		a := netip.MustParseAddr(text)
		h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	return m.Pack()
}

func (s *nameServer) lookup(name string, kind dnsmessage.Type) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, name)
	if name != flipName {
		return hosts[name]
	}
	if kind != dnsmessage.TypeA {
		return []string{}
	}
	s.flips++
	return flips[min(s.flips, len(flips))-1 : min(s.flips, len(flips))]
}

func (s *nameServer) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.asked
	s.asked = nil
	return out
}

func (s *nameServer) close() { _ = s.conn.Close() }
