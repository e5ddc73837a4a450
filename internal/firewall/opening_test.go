package firewall

import (
	"net/netip"
	"testing"
)

func Test_Prefixes_Become_Spans_That_Do_Not_Touch(t *testing.T) {
	t.Parallel()
	var o opening
	for _, p := range []string{
		"10.0.1.0/24", "10.0.0.0/24", "10.0.0.7/32", "10.0.3.0/25", "10.0.3.128/25", "255.255.255.255/32", "0.0.0.0/32",
		"2a00::/64", "2a00::1/128", "ffff::/16", "2a00:0:0:1::/64",
	} {
		o.add(netip.MustParsePrefix(p))
	}
	got := ""
	for _, s := range append(merge(o.v4), merge(o.v6)...) {
		got += s.from.String() + "-" + s.to.String() + " "
	}
	const want = "0.0.0.0-0.0.0.0 10.0.0.0-10.0.1.255 10.0.3.0-10.0.3.255 255.255.255.255-255.255.255.255 " +
		"2a00::-2a00::1:ffff:ffff:ffff:ffff ffff::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
