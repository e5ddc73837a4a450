package hosts

import (
	"net/netip"
	"strings"
	"testing"
)

func Test_Hosts_Are_Normalized(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"a name", "example.com", "example.com"},
		{"upper case", "ExAmPle.COM", "example.com"},
		{"one trailing dot", "example.com.", "example.com"},
		{"an underscore", "my_bucket.s3.example.com", "my_bucket.s3.example.com"},
		{"hyphens in third place", "r3---sn-a.example.com", "r3---sn-a.example.com"},
		{"an international name", "bücher.example", "xn--bcher-kva.example"},
		{"an international name in upper case", "BÜCHER.example", "xn--bcher-kva.example"},
		{"its punycode", "xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"its punycode in upper case", "XN--BCHER-KVA.example", "xn--bcher-kva.example"},
		{"an ideographic full stop", "example。com", "example.com"},
		{"full-width letters", "ｅxample.com", "example.com"},
		{"a sharp s is not ss", "straße.example", "xn--strae-oqa.example"},
		{"dotted decimal", "192.0.2.1", "192.0.2.1"},
		{"an address with a trailing dot", "127.0.0.1.", "127.0.0.1"},
		{"full-width digits", "１２７.０.０.１", "127.0.0.1"},
		{"one decimal number", "2130706433", "127.0.0.1"},
		{"one hexadecimal number", "0x7f000001", "127.0.0.1"},
		{"upper-case hexadecimal", "0X7F.1", "127.0.0.1"},
		{"one octal number", "017700000001", "127.0.0.1"},
		{"two parts", "127.1", "127.0.0.1"},
		{"three parts", "127.0.1", "127.0.0.1"},
		{"octal parts", "0177.0.0.01", "127.0.0.1"},
		{"mixed parts", "0x7f.0.0.01", "127.0.0.1"},
		{"zero", "0", "0.0.0.0"},
		{"IPv6", "::1", "::1"},
		{"IPv6 in brackets", "[2001:DB8::1]", "2001:db8::1"},
		{"IPv6 written out", "0:0:0:0:0:0:0:1", "::1"},
		{"IPv4-mapped", "::ffff:127.0.0.1", "127.0.0.1"},
		{"IPv4-mapped in hexadecimal", "[::ffff:7f00:1]", "127.0.0.1"},
		{"a suffix of an allowed name stays what it is", "github.com.evil.com", "github.com.evil.com"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h, err := ParseHost(row.in)
			if err != nil || h.String() != row.want {
				t.Fatalf("ParseHost(%q) = %q, %v; want %q", row.in, h, err, row.want)
			}
			if again, err := ParseHost(h.String()); err != nil || again != h {
				t.Fatalf("ParseHost(%q) = %v, %v; want %v again", h.String(), again, err, h)
			}
		})
	}
}

func Test_Hosts_That_Are_Refused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"nothing", "", "empty"},
		{"a NUL byte", "example.com\x00.evil.com", "NUL"},
		{"a line end", "example.com\r\n", "control"},
		{"a space", "example.com evil.com", "space"},
		{"a tab", "a\tb", "control"},
		{"user information", "example.com@evil.com", "user information"},
		{"a percent escape", "example%2ecom", "'%'"},
		{"a slash", "example.com/x", "'/'"},
		{"a backslash", `example.com\x`, `'\\'`},
		{"a port", "example.com:80", "':'"},
		{"two trailing dots", "example.com..", "empty label"},
		{"a leading dot", ".example.com", "empty label"},
		{"a dot alone", ".", "empty label"},
		{"a star", "*.example.com", "'*'"},
		{"a long label", strings.Repeat("a", 64) + ".com", "label longer"},
		{"a long name", strings.Repeat("a.", 127) + "ab", "longer than 253"},
		{"a hyphen first", "-oProxyCommand.com", "hyphen"},
		{"broken punycode", "xn--a-\x7f.com", "control"},
		{"punycode of nothing", "xn--.com", "empty label"},
		{"a zero-width joiner alone", "a\u200db.com", "international"},
		{"a full-width slash", "example.com／x", "international"},
		{"not UTF-8", "ex\xffample.com", "UTF-8"},
		{"an IPv6 zone", "fe80::1%eth0", "zone"},
		{"an IPv6 zone in brackets", "[fe80::1%25eth0]", "zone"},
		{"IPv4 in brackets", "[127.0.0.1]", "brackets"},
		{"an unclosed bracket", "[::1", "brackets"},
		{"a part too large", "256.0.0.1", "IPv4"},
		{"the last part too large", "127.0.65536", "IPv4"},
		{"a number too large", "4294967296", "IPv4"},
		{"five parts", "1.2.3.4.5", "IPv4"},
		{"a digit that is not octal", "08.0.0.1", "IPv4"},
		{"hexadecimal of nothing", "0x.0.0.1", "IPv4"},
		{"a name before a number", "example.1", "IPv4"},
		{"an underscore in a number", "1_0.0.0.1", "IPv4"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h, err := ParseHost(row.in)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Fatalf("ParseHost(%q) = %v, %v; want an error with %q", row.in, h, err, row.want)
			}
			if strings.ContainsAny(err.Error(), "\r\n\x00") {
				t.Fatalf("the error %q has more than one line", err)
			}
		})
	}
}

func Test_Hosts_With_Ports_Are_Parsed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		in   string
		port uint16
		want string
	}{
		{"example.com:22", 0, "example.com:22"},
		{"example.com", 80, "example.com:80"},
		{"[::1]:443", 0, "[::1]:443"},
		{"[::1]", 80, "[::1]:80"},
		{"127.1:080", 0, "127.0.0.1:80"},
		{"example.com", 0, ""},
		{"example.com:", 80, ""},
		{"example.com:0", 80, ""},
		{"example.com:65536", 80, ""},
		{"example.com:+80", 80, ""},
		{"example.com:80:80", 80, ""},
		{"example.com:000000080", 80, ""},
		{":80", 80, ""},
	} {
		t.Run(row.in, func(t *testing.T) {
			t.Parallel()
			h, port, err := ParseHostPort(row.in, row.port)
			got := ""
			if err == nil {
				got = h.Join(port)
			}
			if got != row.want {
				t.Fatalf("ParseHostPort(%q, %d) = %q, %v; want %q", row.in, row.port, got, err, row.want)
			}
		})
	}
}

func Test_Addresses_Are_Classified(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]class{
		"8.8.8.8": public, "2606:4700::1111": public,
		"127.0.0.1": loopback, "127.255.0.1": loopback, "0.0.0.0": loopback, "0.1.2.3": loopback, "::": loopback, "::1": loopback,
		"169.254.1.1": local, "fe80::1": local, "fe80::1%eth0": local,
		"10.0.0.1": private, "172.31.0.1": private, "192.168.1.1": private, "100.64.0.1": private, "fd00::1": private, "fec0::1": private,
		"169.254.169.254": metadata, "100.100.100.200": metadata, "168.63.129.16": metadata, "fd00:ec2::254": metadata, "169.254.170.2": metadata,
		"224.0.0.1": multicast, "ff02::1": multicast, "255.255.255.255": reserved, "240.0.0.1": reserved,
		"198.18.0.1": reserved, "192.0.2.1": reserved, "2001:db8::1": reserved,
		"::ffff:127.0.0.1": loopback, "::127.0.0.1": loopback, "::ffff:0:127.0.0.1": loopback,
		"64:ff9b::7f00:1": loopback, "64:ff9b::169.254.169.254": metadata, "64:ff9b::8.8.8.8": public, "64:ff9b:1::808:808": private,
		"2002:7f00:1::": loopback, "2002:a9fe:a9fe::1": metadata, "2002:808:808::": public,
		"2001:0:7f00:1::": loopback, "2001:0:808:808:0:0:80ff:fffe": loopback, "2001:0:808:808:0:0:f7f7:f7f7": public,
		"2606:4700::5efe:10.0.0.1": private, "2606:4700::200:5efe:10.0.0.1": private,
	} {
		t.Run(in, func(t *testing.T) {
			t.Parallel()
			if got := classify(netip.MustParseAddr(in)); got != want {
				t.Fatalf("classify(%s) = %q, want %q", in, got, want)
			}
		})
	}
}
