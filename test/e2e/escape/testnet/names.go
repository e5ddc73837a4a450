//go:build linux

package testnet

import (
	"net"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// Addresses of the hosts of the test network.
const (
	AllowedAddr = "93.184.216.10"
	EvilAddr    = "93.184.216.66"
)

// KnownHosts are the names with their own addresses. Names below allowed.test and
// api.test have the addresses of those; all other names, known or not, have
// evilAddr.
var KnownHosts = map[string][]string{
	"allowed.test":     {AllowedAddr, "2606:2800:220:1::10"},
	"lenient.test":     {"93.184.216.30"},
	"api.test":         {"93.184.216.40"},
	"badcert.test":     {"93.184.216.41"},
	"bad.allowed.test": {EvilAddr}, // a subdomain of an allowed name that is denied
	"second.test":      {"93.184.216.67"},
	FlipName:           {AllowedAddr},
	"loop.test":        {"127.0.0.1"},
	"loop2.test":       {"127.8.8.8"},
	"six.test":         {"::1"},
	"zero.test":        {"0.0.0.0"},
	"zero6.test":       {"::"},
	"mapped.test":      {"::ffff:127.0.0.1"},
	"own.test":         {OwnIPv4},
	"own6.test":        {OwnIPv6},
	"meta.test":        {"169.254.169.254"},
	"meta6.test":       {"fd00:ec2::254"},
	"local.test":       {"169.254.7.7"},
	"lan.test":         {"192.168.7.7"},
	"ten.test":         {"10.1.2.3"},
	"shared.test":      {"100.64.0.9"},
	"unique.test":      {"fd12:3456::7"},
	"nat64.test":       {"64:ff9b::c0a8:707"},
	"nat64own.test":    {"64:ff9b::7f00:1"},
	"nat64loc.test":    {"64:ff9b:1::c0a8:707"},
	"sixtofour.test":   {"2002:c0a8:707::1"},
	"teredo.test":      {"2001:0:c0a8:707::1"},
	"isatap.test":      {"2606:2800:220:1::5efe:c0a8:707"},
	"compat.test":      {"::c0a8:707"},
	"siit.test":        {"::ffff:0:c0a8:707"},
	"both.test":        {EvilAddr, "127.0.0.1", "169.254.169.254"}, // evilAddr does not listen on its port
}

// ProxyAddr is the address of the proxy in a sandbox with an allow-list.
const ProxyAddr = "127.0.0.1:3128"

// FlipName resolves to the address of allowed.test the first time, and then to the
// machine's loopback, as in DNS rebinding.
const FlipName = "flip.test"

func addressesOf(name string) []string {
	if a, ok := KnownHosts[name]; ok {
		return a
	}
	for _, parent := range []string{"allowed.test", "api.test"} {
		if strings.HasSuffix(name, "."+parent) {
			return KnownHosts[parent][:1]
		}
	}
	return []string{EvilAddr}
}

// nameServer answers over UDP.
type nameServer struct {
	mu    sync.Mutex
	asked []string
	flips int
}

func newNameServer(addr string) (*nameServer, error) {
	conn, err := net.ListenPacket("udp", addr) //nolint:noctx // as long as the tests
	if err != nil {
		return nil, err
	}
	s := &nameServer{}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if out, err := s.answer(buf[:n]); err == nil {
				_, _ = conn.WriteTo(out, from) // the client may have disconnected
			}
		}
	}()
	return s, nil
}

func (s *nameServer) answer(query []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) == 0 {
		s.note("an invalid question")
		return nil, err
	}
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	s.note(name)
	h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
	for _, text := range s.lookup(name, q.Type) {
		a := netip.MustParseAddr(text)
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
	if name != FlipName {
		return addressesOf(name)
	}
	if kind != dnsmessage.TypeA {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flips++
	if s.flips == 1 {
		return []string{AllowedAddr}
	}
	return []string{"127.0.0.1"}
}

func (s *nameServer) note(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, name)
}

func (s *nameServer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.flips = nil, 0
}

func (s *nameServer) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}
