//go:build linux

package escape_test

import (
	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/attacker"
	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/testnet"
)

// special has names of hosts at addresses that an allowed name must not open, and that
// accept connections without the isolation.
var special = []string{
	"loop.test", "loop2.test", "six.test", "zero.test", "zero6.test", "mapped.test", "own.test", "own6.test", "meta.test", "meta6.test", "local.test", "lan.test",
	"ten.test", "shared.test", "unique.test", "nat64.test", "nat64own.test", "nat64loc.test", "sixtofour.test", "teredo.test", "isatap.test", "compat.test", "siit.test",
}

func addresses(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, testnet.KnownHosts[n]...)
	}
	return out
}

func specialAddresses() []escape {
	careless := control{Every: true}
	// A list that allows nearly everything still does not allow local addresses.
	anyHost := func(h *host) { h.write("home/any.json", `{"network": {"allow": ["*"], "any": true}}`) }
	return []escape{
		{
			ID: "E21.10", Name: "an allowed name opens no loopback, no LAN, no metadata, no gateway to them", Matrix: rowAddresses, Control: careless,
			Flags: rules(append(special, "allowed.test")...), Net: &testnet.Limits{Good: []string{"allowed.test"}, Asks: special, Naive: true},
			Go: join(allowed(everyWay("allowed.test")), everyWay(special...)),
		},
		{
			ID: "E21.11", Name: "neither does a rule for all hosts, by name or by address", Matrix: rowAddresses, Control: careless,
			Setup: anyHost, Flags: []string{"-c", "{home}/any.json"},
			Net: &testnet.Limits{Good: []string{"allowed.test", "evil.test", testnet.EvilAddr}, Asks: special, Naive: true},
			Go: join(allowed(everyWay("allowed.test", "evil.test", testnet.EvilAddr)), everyWay("loop.test", "meta.test", "lan.test", "nat64.test"),
				everyWay(addresses(special)...), everyWay("127.1", "0x7f000001", "2130706433", "017700000001", "localhost", "0")),
		},
		{
			ID: "E21.12", Name: "a name that may be private is not therefore the host's, or the metadata's", Matrix: rowAddresses,
			Flags: append(rules("lan.test", "loop.test", "own.test", "meta.test", "local.test", "nat64own.test"),
				"--private-host", "lan.test,loop.test,own.test,meta.test,local.test,nat64own.test"),
			Net:     &testnet.Limits{Good: []string{"lan.test"}, Asks: special, Naive: true},
			Go:      join(allowed(everyWay("lan.test")), everyWay("loop.test", "own.test", "meta.test", "local.test", "nat64own.test", "192.168.7.7", "192.168.7.8")),
			Control: careless,
		},
		{
			ID: "E21.13", Name: "a name that changes its address gains nothing", Matrix: rowAddresses,
			Flags: rules(testnet.FlipName, testnet.FlipName+":7001", "both.test:7001"), Net: &testnet.Limits{Good: []string{testnet.FlipName, "both.test"}, Naive: true},
			Go: join(allowed([]attacker.Probe{{Via: "connect", To: testnet.FlipName + ":443", TLS: true}}), everyWay(testnet.FlipName, testnet.FlipName, testnet.FlipName), []attacker.Probe{
				{Via: "connect", To: testnet.FlipName + ":7001"}, {Via: "socks", To: testnet.FlipName + ":7001"}, {Via: "connect", To: "both.test:7001"}, {Via: "socks", To: "both.test:7001"},
			}),
		},
		{
			ID: "E21.14", Name: "a rule for a range opens no other range, and never the metadata's", Matrix: rowAddresses, Control: careless,
			Flags: rules("169.254.0.0/16", "10.0.0.0/8", "127.0.0.1:7002"), Net: &testnet.Limits{Good: []string{"10.1.2.3", "169.254.7.7"}, Naive: true},
			Go: join(allowed(everyWay("10.1.2.3", "169.254.7.7")), everyWay("169.254.169.254", "0xa9fea9fe", "192.168.7.7", "127.0.0.1", "::1", "64:ff9b::a9fe:a9fe"),
				tunnels("127.0.0.1:7001", "127.0.0.2:7001", "[::ffff:127.0.0.1]:7001")),
		},
	}
}
