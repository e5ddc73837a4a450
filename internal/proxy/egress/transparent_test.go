package egress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
)

// query returns a DNS query with questions for a name.
func query(tb testing.TB, name string, kinds ...dnsmessage.Type) []byte {
	tb.Helper()
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 77, RecursionDesired: true}}
	for _, kind := range kinds {
		m.Questions = append(m.Questions, dnsmessage.Question{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET})
	}
	text, err := m.Pack()
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func Test_Allowed_Names_Have_An_Address_Each(t *testing.T) {
	b := newBed(t, network{Allow: []string{"ok.example", "*.wild.example:8080", "tcp://db.example:5432"}})
	answer := func(name string, kind dnsmessage.Type) (dnsmessage.RCode, string) {
		t.Helper()
		text, err := b.proxy.answerQuery(query(t, name, kind))
		var m dnsmessage.Message
		if err == nil {
			err = m.Unpack(text)
		}
		if err != nil || m.ID != 77 || !m.Response || len(m.Questions) != 1 || len(m.Answers) > 1 {
			t.Fatalf("%s: %+v, %v", name, m, err)
		}
		if len(m.Answers) == 0 {
			return m.RCode, ""
		}
		a, ok := m.Answers[0].Body.(*dnsmessage.AResource)
		if !ok {
			t.Fatalf("%s: %+v", name, m.Answers[0])
		}
		return m.RCode, netip.AddrFrom4(a.A).String()
	}
	for _, row := range []struct {
		name string
		kind dnsmessage.Type
		code dnsmessage.RCode
		addr string
	}{
		{"ok.example.", dnsmessage.TypeA, dnsmessage.RCodeSuccess, "198.18.0.2"},
		{"OK.Example.", dnsmessage.TypeA, dnsmessage.RCodeSuccess, "198.18.0.2"},
		{"ok.example.", dnsmessage.TypeAAAA, dnsmessage.RCodeSuccess, ""},
		{"ok.example.", dnsmessage.TypeTXT, dnsmessage.RCodeSuccess, ""},
		{"a.wild.example.", dnsmessage.TypeA, dnsmessage.RCodeSuccess, "198.18.0.3"},
		{"b.wild.example.", dnsmessage.TypeA, dnsmessage.RCodeSuccess, "198.18.0.4"},
		{"db.example.", dnsmessage.TypeA, dnsmessage.RCodeSuccess, "198.18.0.5"},
		{"wild.example.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{"other.example.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{"2.0.18.198.in-addr.arpa.", dnsmessage.TypePTR, dnsmessage.RCodeNameError, ""},
		{"127.0.0.1.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{"a b.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{".", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
	} {
		if code, addr := answer(row.name, row.kind); code != row.code || addr != row.addr {
			t.Errorf("%s %s: %s %q, want %s %q", row.name, row.kind, code, addr, row.code, row.addr)
		}
	}
	if events := b.take(); len(events) != 2 || events[0].Host != "wild.example" || events[1].Host != "other.example" || events[1].Allow != "--allow other.example" {
		t.Errorf("%+v", events)
	}
	for n := range maxNames - 4 {
		answer(fmt.Sprintf("n%d.wild.example.", n), dnsmessage.TypeA)
	}
	if code, addr := answer("ok.example.", dnsmessage.TypeA); code != dnsmessage.RCodeSuccess || addr != "198.18.0.2" {
		t.Errorf("as many names as there are addresses: %s %q", code, addr)
	}
	if code, addr := answer("more.wild.example.", dnsmessage.TypeA); code != dnsmessage.RCodeSuccess || addr != "198.18.0.2" {
		t.Errorf("a name more: %s %q, want the address of the oldest", code, addr)
	}
	if code, addr := answer("ok.example.", dnsmessage.TypeA); code != dnsmessage.RCodeSuccess || addr != "198.18.0.3" {
		t.Errorf("the oldest name again: %s %q", code, addr)
	}
	if n := len(b.proxy.transparent.names); n != maxNames || len(b.proxy.transparent.addrs) != n {
		t.Errorf("%d addresses for %d names", n, len(b.proxy.transparent.addrs))
	}
}

func Test_The_Name_Server_Answers_Queries_Alone(t *testing.T) {
	b := newBed(t, network{Allow: []string{"ok.example"}})
	good := query(t, "ok.example.", dnsmessage.TypeA)
	response, chaos, update := bytes.Clone(good), bytes.Clone(good), bytes.Clone(good)
	response[2] |= 0x80
	chaos[len(chaos)-1] = 3
	update[2] |= 5 << 3
	for name, row := range map[string]struct {
		query []byte
		code  int // -1: no answer
	}{
		"nothing": {nil, -1}, "half a header": {good[:6], -1}, "a response": {response, -1},
		"no question": {query(t, "ok.example."), int(dnsmessage.RCodeFormatError)}, "half a question": {good[:len(good)-3], int(dnsmessage.RCodeFormatError)},
		"two questions": {query(t, "ok.example.", dnsmessage.TypeA, dnsmessage.TypeAAAA), int(dnsmessage.RCodeFormatError)},
		"another class": {chaos, int(dnsmessage.RCodeNotImplemented)}, "an update": {update, int(dnsmessage.RCodeNotImplemented)},
	} {
		answer, err := b.proxy.answerQuery(row.query)
		var m dnsmessage.Message
		if row.code < 0 {
			if err == nil {
				t.Errorf("%s: answered", name)
			}
		} else if err != nil || m.Unpack(answer) != nil || int(m.RCode) != row.code || len(m.Answers) > 0 {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func Test_Connections_That_No_Rule_Allows_Are_Not_Announced(t *testing.T) {
	b := newBed(t, network{Allow: []string{"192.0.2.0/24:1-65535"}})
	state := &b.proxy.transparent
	for _, bad := range []string{"192.0.3.1:5432", "198.18.0.9:443", "[::ffff:192.0.3.1]:80"} {
		if _, err := b.proxy.Redirect(netip.MustParseAddrPort(bad)); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if events := b.take(); len(events) != 2 { // an unassigned stand-in address is not reported
		t.Errorf("%+v", events)
	}
	announce, err := b.proxy.Redirect(netip.MustParseAddrPort("[::ffff:192.0.2.1]:5432"))
	if err != nil {
		t.Fatal(err)
	}
	from := &net.TCPAddr{Port: 60000}
	if _, ok := state.take(from); ok {
		t.Error("expected before it was announced")
	}
	announce(60000)
	if to, ok := state.take(from); !ok || to.String() != "192.0.2.1:5432" {
		t.Errorf("%s, %v", to, ok)
	}
	announce(60000)()
	if _, ok := state.take(from); ok {
		t.Error("expected after it was withdrawn")
	}
}

func FuzzQuery(f *testing.F) {
	f.Add(query(f, "ok.example.", dnsmessage.TypeA))
	f.Add(query(f, strings.Repeat("a.", 100)+"example.", dnsmessage.TypeAAAA, dnsmessage.TypeA))
	p, err := New(Options{Rules: compile(f, hosts.Policy{Allow: []string{"ok.example"}})})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		answer, err := p.answerQuery(data)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(answer); err != nil || len(m.Answers) > 1 || !m.Response || m.ID != binary.BigEndian.Uint16(data) {
			t.Errorf("%x: %+v, %v", data, m, err)
		}
	})
}
