package hosts

import (
	"net/netip"
	"strings"
	"testing"
)

func FuzzHost(f *testing.F) {
	for _, s := range []string{
		"example.com", "EXAMPLE.com.", "bücher.example", "xn--bcher-kva.example", "127.1", "0177.0.0.1", "0x7f000001", "2130706433",
		"[::1]", "::ffff:127.0.0.1", "a\x00b.com", "a@b.com", "fe80::1%eth0", "１２７.０.０.１", "example。com", "a..b", "1.2.3.4.5", "xn--a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := ParseHost(s)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n\x00") || len(err.Error()) > 1000 {
				t.Fatalf("the error %q is not one short line", err)
			}
			return
		}
		if again, err := ParseHost(h.String()); err != nil || again != h {
			t.Fatalf("%q is %v, and that is %v, %v", s, h, again, err)
		}
		if h.IsAddr() {
			if h.Addr() != h.Addr().Unmap() || h.Addr().Zone() != "" {
				t.Fatalf("%q is %v", s, h)
			}
			return
		}
		if len(h.Name()) > maxName || strings.Trim(h.Name(), "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
			t.Fatalf("%q is the name %q", s, h.Name())
		}
		// No resolver may take for an address what ParseHost takes for a name.
		if _, err := netip.ParseAddr(h.Name()); err == nil {
			t.Fatalf("%q is an address", h.Name())
		}
	})
}

func FuzzRules(f *testing.F) {
	for _, s := range []string{
		"example.com", "*.example.com", "example.com:443", "example.com:1-2", "10.0.0.0/8", "[fd00::/8]:22", "tcp://a.b:1",
		"GET,HEAD https://a.b/c/*/d/**", "*", "*.com", "::1", "a.b/%2f", "https://[::1]:8/x",
	} {
		f.Add(s, "www.example.com:443", "/c/x/d")
	}
	f.Fuzz(func(t *testing.T, text, target, path string) {
		r, err := Compile(Policy{Allow: []string{text}, Inspectable: true})
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n\x00") {
				t.Fatalf("the error %q is not one line", err)
			}
			return
		}
		host, port, err := ParseHostPort(target, 443)
		if err != nil {
			return
		}
		v := r.Check(host, port)
		q := Request{Host: host, Port: port, TLS: true, Method: "GET", Path: path}
		if r.CheckRequest(q).Allowed && !v.Allowed {
			t.Fatalf("%q allows a request to %q but not the host", text, target)
		}
		d, err := Compile(Policy{Allow: []string{"*", "0.0.0.0/0", "::/0"}, Any: true, Deny: []string{text}, Inspectable: true})
		if err != nil {
			t.Fatalf("%q may be allowed but not denied: %v", text, err)
		}
		// A rule without a port is 80 and 443 in one list and every port in the other.
		if u := d.deny[0]; v.Allowed && u.isUnconditional() && d.Check(host, port).Allowed {
			t.Fatalf("%q allows %q when it stands in allow, and does not deny it in deny", text, target)
		}
		for _, special := range []string{"127.0.0.1", "169.254.169.254", "::1"} {
			a := netip.MustParseAddr(special)
			if u := r.allow[0]; r.CheckAddr(host, a, port, nil).Allowed && (!u.prefix.Contains(a) || !u.isNarrow()) {
				t.Fatalf("%q opens %s", text, special)
			}
		}
	})
}
