package firewall_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/firewall"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Firewall_Opens_Only_Listed_Addresses(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.names.name("good.test", allowed, allowed6)
	if !reaches(t, b.box, strange, 443) {
		t.Fatal("the test network does not work")
	}
	r := b.apply(t, b.rules("good.test:443"))
	if !r.Frames || !r.IPv6 || r.Probes < 7 || len(r.Warnings) > 0 {
		t.Errorf("report: %+v", r)
	}
	if got, want := r.HostsFile(), allowed+"\tgood.test\n"+allowed6+"\tgood.test\n"; got != want {
		t.Errorf("hosts file %q, want %q", got, want)
	}
	for _, c := range []struct {
		host string
		port int
		want bool
	}{
		{allowed, 443, true},
		{allowed6, 443, true},
		{"127.0.0.1", 80, true},
		{boxAddr, 80, true},
		{allowed, 80, false},
		{allowed6, 80, false},
		{allowed2, 443, false},
		{strange, 443, false},
		{strange6, 443, false},
		{gateway, 443, false},
		{gateway, 22, false},
		{peerAddr, 80, false},
		{meta, 80, false},
		{dns, 53, false},
	} {
		if got := reaches(t, b.box, c.host, c.port); got != c.want {
			t.Errorf("%s port %d: reached %v, want %v", c.host, c.port, got, c.want)
		}
	}
	if reaches(t, b.peer, boxAddr, 80) {
		t.Error("the peer reaches a port of the box")
	}
}

func Test_Firewall_Without_Addresses_Is_Closed(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	r := b.apply(t, b.rules("gone.test"))
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "gone.test has no address") || r.HostsFile() != "" || r.IPv6 {
		t.Errorf("report: %+v", r)
	}
	for _, host := range []string{allowed, strange, gateway, peerAddr, allowed6} {
		if reaches(t, b.box, host, 80) {
			t.Errorf("%s is reached", host)
		}
	}
}

func Test_Firewall_Warns_Of_What_It_Leaves_Out(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.names.name("one.test", allowed)
	b.names.name("two.test", allowed, allowed2)
	b.names.name("inner.test", gateway, meta, "127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1")
	r := b.apply(t, b.rules("one.test", "two.test", "inner.test", "dead.test", "20.0.0.10"))
	all := strings.Join(r.Warnings, "\n")
	for _, want := range []string{
		"two.test has the address of one.test: " + allowed, "dead.test has no address",
		"inner.test: " + gateway + " is a private address", "inner.test: " + meta + " is a cloud metadata address",
		"127.0.0.1 is a loopback address", "10.0.0.1 is a private address", "64:ff9b::a00:1 is a private address",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in\n%s", want, all)
		}
	}
	if !reaches(t, b.box, allowed2, 443) || reaches(t, b.box, gateway, 443) {
		t.Error("the wrong addresses are open")
	}
}

func Test_Firewall_Opens_Private_Addresses_That_Are_Written(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.apply(t, b.rules("10.77.0.3", "20.0.0.0/28:8000-8100"))
	for _, c := range []struct {
		host string
		port int
		want bool
	}{{peerAddr, 80, true}, {gateway, 80, false}, {allowed, 8080, true}, {allowed2, 8080, true}, {strange, 8080, false}, {allowed, 443, false}} {
		if got := reaches(t, b.box, c.host, c.port); got != c.want {
			t.Errorf("%s port %d: reached %v, want %v", c.host, c.port, got, c.want)
		}
	}
}

func Test_Firewall_That_Is_Not_Proven_Closes_Everything(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		reach, refuse string
		want          string
	}{
		{"a server that does not listen", allowed + ":81", "", "must be reached"},
		{"a server that is not listed", strange + ":443", "", "must be reached"},
		{"a listed server that must not answer", "", allowed + ":443", "must not be reached, but is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			r := b.rules("20.0.0.10:443", "20.0.0.10:81")
			if c.reach != "" {
				r.Reach = append(r.Reach, netip.MustParseAddrPort(c.reach))
			}
			if c.refuse != "" {
				r.Refuse = append(r.Refuse, netip.MustParseAddrPort(c.refuse))
			}
			_, err := firewall.Apply(t.Context(), b.box, r)
			if !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v", err)
			}
			if reaches(t, b.box, allowed, 443) {
				t.Error("it is open all the same")
			}
		})
	}
	b := newBed(t)
	r := b.rules("20.0.0.10:443")
	r.Reach, r.Refuse = []netip.AddrPort{netip.MustParseAddrPort(allowed + ":443")}, []netip.AddrPort{netip.MustParseAddrPort(gateway + ":80")}
	if report := b.apply(t, r); report.Probes < 8 {
		t.Errorf("report: %+v", report)
	}
}

func Test_Firewall_Closes_When_The_Context_Ends(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	ctx, cancel := context.WithCancel(t.Context())
	r := b.rules("slow.test")
	r.Resolver.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if _, err := firewall.Apply(ctx, b.box, r); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if reaches(t, b.box, strange, 443) {
		t.Error("it is open")
	}
}

func Test_Firewall_Rejects_Rules_It_Cannot_Enforce(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for _, c := range []struct {
		rule string
		want *sandbox.Error
	}{
		{"*.good.test", sandbox.ErrUnsupported},
		{"GET http://good.test/x", sandbox.ErrUnsupported},
		{"https://good.test", sandbox.ErrUnsupported},
		{"0.0.0.0/0", sandbox.ErrInvalid},
		{"a b", sandbox.ErrInvalid},
		{"@nothing", sandbox.ErrInvalid},
	} {
		if _, err := firewall.Apply(t.Context(), b.box, b.rules(c.rule)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.rule, err)
		}
	}
	if !reaches(t, b.box, strange, 443) {
		t.Error("a refused rule changed the namespace")
	}
}

func Test_Firewall_Does_Not_Touch_The_Host(t *testing.T) {
	t.Parallel()
	need(t)
	own, err := os.Open("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if _, err := firewall.Apply(t.Context(), own, firewall.Rules{}); !errors.Is(err, sandbox.ErrInvalid) {
		t.Errorf("error %v", err)
	}
	if _, err := firewall.Apply(t.Context(), nil, firewall.Rules{}); !errors.Is(err, sandbox.ErrInvalid) {
		t.Errorf("error %v", err)
	}
	other, err := os.Open("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := firewall.Apply(t.Context(), other, firewall.Rules{}); err == nil {
		t.Error("a mount namespace is taken")
	}
}

// A child of the test without capabilities, and root by name only, as in many containers.
func Test_Firewall_Without_Privileges_Suggests_The_Allow_List(t *testing.T) {
	const child = "FIREWALL_TEST_WITHOUT_RIGHTS"
	if os.Getenv(child) != "" {
		fmt.Println(firewall.Check(), sandbox.HintOf(firewall.Check()))
		_, err := firewall.Apply(t.Context(), os.NewFile(3, "netns"), firewall.Rules{})
		fmt.Println(err, sandbox.HintOf(err))
		return
	}
	b := newBed(t)
	cmd := exec.CommandContext(t.Context(), "setpriv", "--bounding-set", "-all", "--inh-caps", "-all",
		os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"=1")
	cmd.ExtraFiles = []*os.File{b.box}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "operation not permitted a firewall needs root (CAP_SYS_ADMIN and CAP_NET_ADMIN); the allow-list (--allow HOST) needs none"); n != 2 {
		t.Errorf("output:\n%s", out)
	}
}

func Test_Firewall_Follows_Address_Changes_Of_Names(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.names.name("cdn.test", allowed)
	b.names.name("other.test", strange)
	rules := b.rules("cdn.test", "other.test")
	first := b.apply(t, rules)
	var open net.Conn
	in(t, b.box, func() {
		var err error
		if open, err = dial(t.Context(), allowed+":443"); err != nil {
			t.Error(err)
		}
	})
	if open == nil {
		t.FailNow()
	}
	defer open.Close()

	b.names.name("cdn.test", allowed2)
	b.names.name("other.test")
	second, err := firewall.Update(t.Context(), b.box, rules, first)
	if err != nil {
		t.Fatal(err)
	}
	if want := allowed2 + "\tcdn.test\n" + strange + "\tother.test\n"; second.HostsFile() != want {
		t.Errorf("hosts file %q", second.HostsFile())
	}
	if len(second.Warnings) != 1 || !strings.Contains(second.Warnings[0], "other.test has no address") {
		t.Errorf("warnings %q", second.Warnings)
	}
	if !reaches(t, b.box, allowed2, 443) || !reaches(t, b.box, strange, 443) {
		t.Error("what the names lead to is closed")
	}
	if err := echo(open); err != nil {
		t.Errorf("a connection to an address that the name had is cut: %v", err)
	}

	for i := range second.Hosts {
		for j := range second.Hosts[i].Old {
			second.Hosts[i].Old[j].Until = second.Hosts[i].Old[j].Until.AddDate(0, 0, -1)
		}
	}
	if _, err := firewall.Update(t.Context(), b.box, rules, second); err != nil {
		t.Fatal(err)
	}
	if reaches(t, b.box, allowed, 443) {
		t.Error("an address that the name had long ago is open")
	}
	if echo(open) == nil {
		t.Error("a connection to it still carries data")
	}
	if _, err := firewall.Update(t.Context(), b.box, b.rules(), second); err != nil {
		t.Fatal(err)
	}
	if reaches(t, b.box, allowed2, 443) {
		t.Error("a rule that was taken away still opens")
	}
}
