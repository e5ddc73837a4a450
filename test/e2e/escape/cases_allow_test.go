//go:build linux

package escape_test

import (
	"net/netip"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/attacker"
	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/testnet"
)

// Rows of the matrix about the allow-list.
const (
	rowNames     = "allow-list: other names and addresses"
	rowAddresses = "allow-list: host's loopback, LAN, metadata, rebinding"
	rowRequests  = "allow-list: TLS name, Host, smuggling"
	rowProxy     = "proxy reached by others, taken over, or gone"
	rowDirect    = "past the proxy: DNS, UDP, ICMP, raw, IPv6, routes"
	rowPublish   = "published ports"
	rowSecrets   = "value of a secret that is masked"
)

// everyWay connects to hosts in every way that can reach a web server.
func everyWay(hosts ...string) []attacker.Probe {
	var out []attacker.Probe
	for _, h := range hosts {
		in := h
		if a, err := netip.ParseAddr(h); err == nil && a.Is6() {
			in = "[" + h + "]"
		}
		out = append(out, attacker.Probe{Via: "connect", To: in + ":80"}, attacker.Probe{Via: "connect", To: in + ":443", TLS: true},
			attacker.Probe{Via: "socks", To: h + ":80"}, attacker.Probe{Via: "plain", To: "http://" + in + "/"})
	}
	return out
}

// allowed marks probes that must succeed, so that the failure of the others proves something.
func allowed(list []attacker.Probe) []attacker.Probe {
	for i := range list {
		list[i].Good = true
	}
	return list
}

func tunnels(targets ...string) []attacker.Probe {
	var out []attacker.Probe
	for _, t := range targets {
		out = append(out, attacker.Probe{Via: "connect", To: t, Host: "evil.test"})
	}
	return out
}

func join(lists ...[]attacker.Probe) []string {
	var all []attacker.Probe
	for _, l := range lists {
		all = append(all, l...)
	}
	return attacker.ProbeArgs(all...)
}

// rules returns flags with allow rules.
func rules(list ...string) []string {
	var out []string
	for _, r := range list {
		out = append(out, "--allow", r)
	}
	return out
}

func allowLists() []escape {
	careless := control{Every: true}
	good := &testnet.Limits{Good: []string{"allowed.test"}, Naive: true}
	below := &testnet.Limits{Good: []string{"a.allowed.test", "b.a.allowed.test"}, Asks: []string{".allowed.test"}, Naive: true}
	return []escape{
		{
			ID: "E21.1", Name: "an allow-list with nothing in it reaches nothing", Matrix: rowNames, Control: careless,
			Flags: []string{"--deny", "nobody.test"}, Net: &testnet.Limits{Silent: true, Naive: true},
			Go: join(everyWay("allowed.test", "evil.test", testnet.EvilAddr, "127.0.0.1", "localhost"), tunnels("evil.test:22")),
		},
		{
			ID: "E21.2", Name: "a name that only looks like an allowed one is another", Matrix: rowNames, Control: careless,
			Flags: rules("allowed.test"), Net: good,
			Go: join(allowed(everyWay("allowed.test", "ALLOWED.Test", "allowed.test.")),
				everyWay("evil-allowed.test", "evilallowed.test", "allowed.test.evil.test", "www.allowed.test", "allowed.testing", "allowed", "test", "allowed-test")),
		},
		{
			ID: "E21.3", Name: "a rule for all below a name is for nothing else", Matrix: rowNames, Control: careless,
			Flags: rules("*.allowed.test"), Net: below,
			Go: join(allowed(everyWay("a.allowed.test", "B.A.allowed.TEST.")),
				everyWay("allowed.test", "evil-allowed.test", "x.allowed.test.evil.test", "allowed.test.evil.test")),
		},
		{
			ID: "E21.4", Name: "an international name that looks like an allowed one is another", Matrix: rowNames,
			Flags: rules("allowed.test", "bücher.test"), Net: &testnet.Limits{Good: []string{"allowed.test", "xn--bcher-kva.test"}, Naive: true},
			Go: join(everyWay("аllowed.test", "xn--llowed-2fg.test", "alloẉed.test", "allowеd.test", "αllowed.test", "bucher.test", "xn--bcher-kvb.test", "al\u200dlowed.evil.test"),
				allowed(everyWay("allowed.test"))),
		},
		{
			ID: "E21.5", Name: "user information, paths and odd ports make no other host of it", Matrix: rowNames,
			Flags: rules("allowed.test"), Net: good,
			Go: join(tunnels("allowed.test@evil.test:80", "allowed.test:80@evil.test:80", "allowed.test%40evil.test:80", "evil.test#allowed.test:80",
				"evil.test/allowed.test:80", "evil.test?.allowed.test:80", `evil.test\allowed.test:80`, "allowed.test:22", "allowed.test:8080",
				"allowed.test:65616", "allowed.test:65558", "allowed.test:-1", "allowed.test:", "allowed.test", ":80", "[allowed.test]:80", "allowed.test:80:80", "evil.test:80,allowed.test:80", "*.test:80", "allowed.test:+80", "allowed.test:0x50"),
				everyWay("http:evil.test", "allowed.test@evil.test", "allowed.test:@evil.test", "evil.test;allowed.test", "evil.test,allowed.test", "evil.test%23.allowed.test"),
				allowed(everyWay("allowed.test"))),
		},
		{
			ID: "E21.6", Name: "no byte ends a name early", Matrix: rowNames,
			Flags: rules("*.allowed.test"), Net: below,
			Go: join(allowed(everyWay("a.allowed.test")), nameBytes("\x00", "\r\n", "\n", "\t", " ", "\x7f", "\xff", "%00", "\x1b", "\u2024", "\u3002")),
		},
		{
			ID: "E21.7", Name: "an address is not a name, however it is written", Matrix: rowNames,
			Flags: rules("allowed.test"), Net: good,
			Go: join(everyWay(testnet.EvilAddr, "0x5db8d842", "1572395074", "0135.0270.0330.0102", "93.184.55362", "0x5d.0xb8.0xd8.0x42", "[::ffff:"+testnet.EvilAddr+"]",
				"::ffff:5db8:d842", "2606:2800:220:1::66", testnet.EvilAddr+".", "０x5db8d842"),
				[]attacker.Probe{{Via: "socks", To: "[" + testnet.EvilAddr + "]:80"}, {Via: "socks", To: "[2606:2800:220:1::66]:80"}, {Via: "socks4", To: "evil.test:80"}, {Via: "connect", To: testnet.AllowedAddr + ":80"}},
				allowed(everyWay("allowed.test"))),
		},
		{
			ID: "E21.8", Name: "an address that is denied is denied in every notation, and by name", Matrix: rowNames,
			Flags: append(rules("93.184.216.0/24", "evil.test", "second.test", "2606:2800:220:1::/64"), "--deny", testnet.EvilAddr, "--deny", "2606:2800:220:1::66", "--deny", "https://93.184.216.67"),
			Net:   &testnet.Limits{Good: []string{testnet.AllowedAddr}, Asks: []string{"evil.test", "second.test"}, Naive: true},
			Go: join(allowed(everyWay(testnet.AllowedAddr)), allowed([]attacker.Probe{{Via: "connect", To: "0x5db8d80a:80", Host: testnet.AllowedAddr}, {Via: "socks", To: "[" + testnet.AllowedAddr + "]:80", Host: testnet.AllowedAddr}}),
				everyWay(testnet.EvilAddr, "0x5db8d842", "1572395074", "0135.0270.0330.0102", "[::ffff:"+testnet.EvilAddr+"]", "evil.test", "2606:2800:220:1::66"),
				[]attacker.Probe{
					{Via: "socks", To: "[" + testnet.EvilAddr + "]:80"},
					{Via: "socks", To: "[::ffff:" + testnet.EvilAddr + "]:80"},
					{Via: "connect", To: "93.184.216.67:443", TLS: true},
					{Via: "connect", To: "second.test:443", TLS: true},
					{Via: "socks", To: "second.test:443", TLS: true},
				}),
			Control: careless,
		},
		{
			ID: "E21.9", Name: "a name that is denied is denied whatever is allowed", Matrix: rowNames, Control: careless,
			Flags: append(rules("*.allowed.test", "allowed.test", "bad.allowed.test", "https://bad.allowed.test"), "--deny", "bad.allowed.test", "--deny", "*.evil.test"),
			Net:   &testnet.Limits{Good: []string{"allowed.test", "a.allowed.test"}, Naive: true},
			Go: join(allowed(everyWay("allowed.test", "a.allowed.test")),
				everyWay("bad.allowed.test", "BAD.allowed.TEST", "bad.allowed.test.", "x.evil.test"), tunnels("bad.allowed.test:22", "bad.allowed.test:8080")),
		},
	}
}

// nameBytes appends a byte and an allowed name to evil.test.
func nameBytes(list ...string) []attacker.Probe {
	var out []attacker.Probe
	for _, b := range list {
		name := "evil.test" + b + ".allowed.test"
		out = append(out, attacker.Probe{Via: "socks", To: name + ":80", Host: "evil.test"}, attacker.Probe{Via: "connect", To: name + ":80", Inner: "a.allowed.test:80", Host: "evil.test"},
			attacker.Probe{Via: "connect", To: name + ":80", Host: "evil.test"}, attacker.Probe{Via: "plain", To: "http://" + name + "/", Host: "evil.test"})
	}
	return append(out, attacker.Probe{Via: "socks", To: ":80", Host: "evil.test"}, attacker.Probe{Via: "connect", To: "evil.test:80\x00.allowed.test:80", Host: "evil.test"})
}
