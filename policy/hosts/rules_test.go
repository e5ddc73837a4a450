package hosts

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func mustCompile(tb testing.TB, p Policy) *Rules {
	tb.Helper()
	r, err := Compile(p)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func Test_Rules_For_Hosts_And_Ports(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, allow, deny string // space-free rules, separated by spaces
		host              string
		want              bool
	}{
		{"an empty list allows nothing", "", "", "example.com:443", false},
		{"a bare name is port 443", "example.com", "", "example.com:443", true},
		{"a bare name is port 80", "example.com", "", "example.com:80", true},
		{"a bare name is not port 22", "example.com", "", "example.com:22", false},
		{"a bare name is not its subdomains", "example.com", "", "www.example.com:443", false},
		{"a star is every subdomain", "*.example.com", "", "a.b.example.com:443", true},
		{"a star is not the name itself", "*.example.com", "", "example.com:443", false},
		{"a star needs the dot", "*.github.com", "", "evil-github.com:443", false},
		{"a name needs its beginning", "github.com", "", "evil-github.com:443", false},
		{"a name needs its end", "github.com", "", "github.com.evil.com:443", false},
		{"a rule in another case", "GitHub.COM.", "", "github.com:443", true},
		{"an international rule", "bücher.example", "", "xn--bcher-kva.example:443", true},
		{"a port", "example.com:22", "", "example.com:22", true},
		{"a port alone", "example.com:22", "", "example.com:443", false},
		{"in a range of ports", "example.com:8000-8100", "", "example.com:8100", true},
		{"beside a range of ports", "example.com:8000-8100", "", "example.com:8101", false},
		{"a scheme", "https://example.com", "", "example.com:443", true},
		{"the other scheme", "https://example.com", "", "example.com:80", false},
		{"deny beats allow", "*.example.com", "evil.example.com", "evil.example.com:443", false},
		{"deny beats what is more specific", "evil.example.com", "*.example.com", "evil.example.com:443", false},
		{"deny is all ports", "example.com:8080", "example.com", "example.com:8080", false},
		{"deny of one port leaves others", "example.com", "example.com:80", "example.com:443", true},
		{"an address", "10.1.2.3", "", "10.1.2.3:443", true},
		{"an address in another form", "10.1.2.3", "", "0x0a010203:443", true},
		{"an address as IPv6", "10.1.2.3", "", "[::ffff:10.1.2.3]:443", true},
		{"an address by NAT64 is another address", "10.1.2.3", "", "[64:ff9b::10.1.2.3]:443", false},
		{"a range", "10.0.0.0/8", "", "10.9.9.9:443", true},
		{"a range with ports", "10.0.0.0/8:5432", "", "10.9.9.9:5432", true},
		{"an IPv6 range", "fd00::/8", "", "[fd12::1]:443", true},
		{"an IPv6 range with a port", "[fd00::/8]:22", "", "[fd12::1]:22", true},
		{"a name does not match a range", "10.0.0.0/8", "", "example.com:443", false},
		{"a denied range by NAT64", "64:ff9b::/96", "10.0.0.0/8", "[64:ff9b::10.1.2.3]:443", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := mustCompile(t, Policy{Allow: strings.Fields(row.allow), Deny: strings.Fields(row.deny)})
			host, port, err := ParseHostPort(row.host, 0)
			if err != nil {
				t.Fatal(err)
			}
			v := r.Check(host, port)
			if v.Allowed != row.want || v.Reason == "" {
				t.Fatalf("Check(%s) = %+v, want %v", row.host, v, row.want)
			}
			if v.Allowed || v.Allow == "" {
				return
			}
			if again := mustCompile(t, Policy{Allow: []string{v.Allow}}).Check(host, port); !again.Allowed {
				t.Fatalf("the advice %q does not allow %s", v.Allow, row.host)
			}
		})
	}
}

func Test_Rules_That_Are_Refused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, rule, want string }{
		{"nothing", "", "empty"},
		{"everything", "*", "every host"},
		{"a top-level domain", "*.com", "top-level"},
		{"all addresses", "0.0.0.0/0", "great part"},
		{"half of IPv6", "2000::/3", "great part"},
		{"a star in the middle", "a.*.com", "only stand"},
		{"a star in a label", "ex*.com", "only stand"},
		{"an unknown scheme", "ftp://example.com", "scheme"},
		{"raw TCP without a port", "tcp://example.com", "needs a port"},
		{"raw TCP with a path", "tcp://example.com:1/x", "no methods"},
		{"a port that is none", "example.com:http", "not a port"},
		{"ports upside down", "example.com:90-80", "upside down"},
		{"a range that begins elsewhere", "10.1.2.3/8", "begins at 10.0.0.0/8"},
		{"a method in lower case", "get http://example.com/", "upper case"},
		{"a query", "http://example.com/a?b", "no query"},
		{"a dot segment", "http://example.com/a/../b", "dot segment"},
		{"half a star segment", "http://example.com/a**", "whole segments"},
		{"user information", "user@example.com", "user information"},
		{"a line end", "example.com\nevil.com", "control"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := Compile(Policy{Allow: []string{"example.org", row.rule}})
			if sandbox.CodeOf(err) != sandbox.Invalid || !strings.Contains(err.Error(), row.want) ||
				!strings.HasPrefix(err.Error(), "network.allow[1]: ") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("Compile(%q) = %v; want an error with %q", row.rule, err, row.want)
			}
		})
	}
}

func Test_Wide_Rules_With_Any_Do_Not_Open_Special_Addresses(t *testing.T) {
	t.Parallel()
	r := mustCompile(t, Policy{Allow: []string{"*", "0.0.0.0/0", "::/0"}, Any: true})
	h, _ := ParseHost("whatever.example")
	if v := r.Check(h, 443); !v.Allowed {
		t.Fatalf("%+v", v)
	}
	for _, a := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"} {
		if v := r.CheckAddr(h, netip.MustParseAddr(a), 443, nil); v.Allowed {
			t.Errorf("%s is reached by a rule for everything", a)
		}
	}
	if v := r.CheckAddr(h, netip.MustParseAddr("8.8.8.8"), 443, nil); !v.Allowed {
		t.Errorf("a public address: %+v", v)
	}
}

func Test_Rules_Refuse_Special_Addresses(t *testing.T) {
	t.Parallel()
	own := func(a netip.Addr) bool {
		return a == netip.MustParseAddr("8.8.4.4") || a == netip.MustParseAddr("10.0.0.7")
	}
	for _, row := range []struct {
		name, allow, host, addr string
		want                    bool
	}{
		{"a public one", "x.example", "x.example", "8.8.8.8", true},
		{"loopback by name", "x.example", "x.example", "127.0.0.1", false},
		{"private by name", "x.example", "x.example", "10.0.0.1", false},
		{"private by name and address rule", "x.example 10.0.0.0/8", "x.example", "10.0.0.1", true},
		{"the rule has another port", "x.example 10.0.0.0/8:22", "x.example", "10.0.0.1", false},
		{"private for a private name", "a.corp.example", "a.corp.example", "10.0.0.1", true},
		{"loopback for a private name", "a.corp.example", "a.corp.example", "127.0.0.1", false},
		{"metadata for a private name", "a.corp.example", "a.corp.example", "100.100.100.200", false},
		{"our own for a private name", "a.corp.example", "a.corp.example", "10.0.0.7", false},
		{"our own public one", "x.example", "x.example", "8.8.4.4", false},
		{"our own by rule", "x.example 8.8.4.4", "x.example", "8.8.4.4", true},
		{"metadata by range", "x.example 169.254.0.0/16", "x.example", "169.254.169.254", false},
		{"metadata by address", "x.example 169.254.169.254", "x.example", "169.254.169.254", true},
		{"mapped loopback", "x.example", "x.example", "::ffff:127.0.0.1", false},
		{"NAT64 of private, with a rule for the private one", "x.example 10.0.0.0/8", "x.example", "64:ff9b::10.0.0.1", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := mustCompile(t, Policy{Allow: strings.Fields(row.allow), PrivateHosts: []string{"*.corp.example"}})
			h, err := ParseHost(row.host)
			if err != nil {
				t.Fatal(err)
			}
			v := r.CheckAddr(h, netip.MustParseAddr(row.addr), 443, own)
			if v.Allowed != row.want {
				t.Fatalf("CheckAddr(%s) = %+v, want %v", row.addr, v, row.want)
			}
		})
	}
}

func Test_Denied_Addresses_Of_Allowed_Names(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"8.8.0.0/16", "8.8.0.0/16:443", "tcp://8.8.0.0/16:443", "https://8.8.8.8"} {
		r := mustCompile(t, Policy{Allow: []string{"x.example"}, Deny: []string{rule}})
		h, _ := ParseHost("x.example")
		for _, a := range []string{"8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::"} {
			if v := r.CheckAddr(h, netip.MustParseAddr(a), 443, nil); v.Allowed || v.Rule != rule {
				t.Errorf("CheckAddr(%s) with %s denied = %+v", a, rule, v)
			}
		}
	}
}

func Test_Rules_Match_Requests(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, allow, deny string // rules separated by |
		request           string // METHOD URL
		want              bool
	}{
		{"a listed path", "GET https://api.example/repos/**", "", "GET https://api.example/repos/a/b", true},
		{"the directory itself", "GET https://api.example/repos/**", "", "GET https://api.example/repos", true},
		{"another path", "GET https://api.example/repos/**", "", "GET https://api.example/user", false},
		{"a longer name", "GET https://api.example/repos/**", "", "GET https://api.example/repositories", false},
		{"another method", "GET https://api.example/repos/**", "", "DELETE https://api.example/repos/a", false},
		{"a method in lower case", "GET https://api.example/repos/**", "", "get https://api.example/repos/a", false},
		{"several methods", "GET,HEAD https://api.example/**", "", "HEAD https://api.example/x", true},
		{"another scheme", "GET https://api.example/**", "", "GET http://api.example/x", false},
		{"one segment", "GET https://api.example/repos/*/pulls", "", "GET https://api.example/repos/a/pulls", true},
		{"not two segments", "GET https://api.example/repos/*/pulls", "", "GET https://api.example/repos/a/b/pulls", false},
		{"stars in a segment", "https://api.example/v*-x*", "", "GET https://api.example/v1-xyz", true},
		{"dots out of the path", "https://api.example/repos/**", "", "GET https://api.example/repos/../user", false},
		{"encoded dots", "https://api.example/repos/**", "", "GET https://api.example/repos/%2e%2e/user", false},
		{"half-encoded dots", "https://api.example/repos/**", "", "GET https://api.example/repos/.%2E/user", false},
		{"dots with a parameter", "https://api.example/repos/**", "", "GET https://api.example/repos/..;a=b/user", false},
		{"dots behind an encoded slash", "https://api.example/repos/**", "", "GET https://api.example/repos/..%2fuser", false},
		{"dots encoded twice", "https://api.example/repos/**", "", "GET https://api.example/repos/%252e%252e/user", false},
		{"an encoded slash where a slash is allowed", "https://api.example/repos/**", "", "GET https://api.example/repos/a%2Fb", true},
		{"an encoded slash across segments", "https://api.example/repos/*", "", "GET https://api.example/repos/a%2fb", false},
		{"a backslash", "https://api.example/repos/**", "", `GET https://api.example/repos\..\user`, false},
		{"an encoded backslash", "https://api.example/repos/**", "", "GET https://api.example/repos/..%5cuser", false},
		{"an encoded NUL", "https://api.example/repos/**", "", "GET https://api.example/repos/%00", false},
		{"overlong dots", "https://api.example/repos/**", "", "GET https://api.example/repos/%c0%ae%c0%ae/user", false},
		{"a broken escape", "https://api.example/repos/**", "", "GET https://api.example/repos/%zz", false},
		{"two slashes", "https://api.example/repos/*", "", "GET https://api.example//repos/a", false},
		{"odd paths where every path is allowed", "https://api.example", "", "GET https://api.example/@a%2fb/../c", true},
		{"a denied path", "https://api.example", "https://api.example/admin/**", "GET https://api.example/admin/x", false},
		{"a denied path, encoded", "https://api.example", "https://api.example/admin/**", "GET https://api.example/%61dmin/x", false},
		{"a denied path behind two slashes", "https://api.example", "https://api.example/admin/**", "GET https://api.example//admin/x", false},
		{"a denied path by an encoded slash", "https://api.example", "https://api.example/admin/**", "GET https://api.example/admin%2fx", false},
		{"a denied path by dots", "https://api.example", "https://api.example/admin/**", "GET https://api.example/x/../admin/y", false},
		{"beside a denied path", "https://api.example", "https://api.example/admin/**", "GET https://api.example/x", true},
		{"a denied method", "https://api.example", "DELETE https://api.example", "DELETE https://api.example/x", false},
		{"a denied method in lower case", "https://api.example", "DELETE https://api.example", "delete https://api.example/x", false},
		{"beside a denied method", "https://api.example", "DELETE https://api.example", "GET https://api.example/x", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := Policy{Allow: strings.Split(row.allow, "|"), Inspectable: true}
			if row.deny != "" {
				p.Deny = strings.Split(row.deny, "|")
			}
			r := mustCompile(t, p)
			method, url, _ := strings.Cut(row.request, " ")
			q := Request{Method: method, Port: 80}
			scheme, rest, _ := strings.Cut(url, "://")
			if scheme == "https" {
				q.TLS, q.Port = true, 443
			}
			q.Host, _ = ParseHost("api.example")
			q.Path = strings.TrimPrefix(rest, "api.example")
			if v := r.CheckRequest(q); v.Allowed != row.want || v.Reason == "" {
				t.Fatalf("CheckRequest(%s) = %+v, want %v", row.request, v, row.want)
			}
		})
	}
}

func Test_Request_Rules_Inside_TLS_Need_A_CA(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"GET https://example.com", "https://example.com/x", "GET example.com/x"} {
		if _, err := Compile(Policy{Allow: []string{rule}}); sandbox.CodeOf(err) != sandbox.Unsupported || sandbox.HintOf(err) == "" {
			t.Errorf("Compile(%q) = %v, want unsupported", rule, err)
		}
	}
	mustCompile(t, Policy{Allow: []string{"GET http://example.com/x"}})
}
