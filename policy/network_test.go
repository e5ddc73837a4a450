package policy

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// netLayer is a layer of a file whose lines are those of text.
func netLayer(t *testing.T, name, text string, trusted bool) sandbox.Layer {
	t.Helper()
	p, lines, err := Decode("/"+name+".json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sandbox.Layer{Name: name, File: "/" + name + ".json", Trusted: trusted, Policy: p, Lines: lines}
}

func resolveNetwork(layers ...sandbox.Layer) (*Plan, error) {
	layers = append([]sandbox.Layer{Defaults()}, layers...)
	return Resolve(sandbox.Spec{Layers: layers, Env: []string{"PATH=/usr/bin:/bin"}})
}

func Test_Networks_Of_Layers_Are_Merged(t *testing.T) {
	const list = `{"network": {"allow": ["a.b"], "deny": ["x.a.b"], "private_hosts": ["a.b"], "publish": ["80"], "any": true, "ca": "ephemeral", "upstream": "http://p:1"}}`
	all := sandbox.Network{
		Mode: "allow", Allow: []string{"a.b"}, Deny: []string{"x.a.b"}, PrivateHosts: []string{"a.b"}, Publish: []string{"80:80"},
		Any: true, CA: "ephemeral", Upstream: "http://p:1",
	}
	type layer struct {
		text    string
		trusted bool
	}
	for _, c := range []struct {
		name   string
		layers []layer
		want   sandbox.Network
	}{
		{"nothing is none", nil, sandbox.Network{Mode: "none"}},
		{"a layer without a word changes nothing", []layer{{list, true}, {`{}`, true}}, all},
		{"host replaces lists", []layer{{list, true}, {`{"network": "host"}`, true}}, sandbox.Network{Mode: "host"}},
		{"none replaces lists", []layer{{list, true}, {`{"network": "none"}`, true}}, sandbox.Network{Mode: "none"}},
		{"lists start anew after none", []layer{{list, true}, {`{"network": "none"}`, true}, {`{"network": {"allow": ["c.d"]}}`, true}}, sandbox.Network{Mode: "allow", Allow: []string{"c.d"}}},
		{"lists start anew after host", []layer{{`{"network": "host"}`, true}, {`{"network": {"deny": ["c.d"]}}`, true}}, sandbox.Network{Mode: "allow", Deny: []string{"c.d"}}},
		{
			"lists add up, each rule once; the last CA and proxy count",
			[]layer{{list, true}, {`{"network": {"allow": ["c.d", "a.b"], "deny": ["e.f"], "publish": ["80:80", "8080:80"], "upstream": "http://q:1"}}`, true}},
			sandbox.Network{
				Mode: "allow", Allow: []string{"a.b", "c.d"}, Deny: []string{"x.a.b", "e.f"}, PrivateHosts: []string{"a.b"}, Publish: []string{"80:80", "8080:80"},
				Any: true, CA: "ephemeral", Upstream: "http://q:1",
			},
		},
		{"any of one layer is for the rules of all", []layer{{`{"network": {"allow": ["*"]}}`, true}, {`{"network": {"any": true}}`, true}}, sandbox.Network{Mode: "allow", Allow: []string{"*"}, Any: true}},

		{"an untrusted list narrows the host's network", []layer{{`{"network": "host"}`, true}, {`{"network": {"allow": ["c.d"], "any": true, "publish": ["1"]}}`, false}}, sandbox.Network{Mode: "allow", Allow: []string{"c.d"}, Any: true, Publish: []string{"1:1"}}},
		{"and is not added to", []layer{{`{"network": "host"}`, true}, {`{"network": {"allow": ["c.d"], "deny": ["x.a.b"]}}`, false}, {`{"network": {"allow": ["a.b"]}}`, true}}, sandbox.Network{Mode: "allow", Allow: []string{"a.b"}, Deny: []string{"x.a.b"}}},
		{"an untrusted none does not wash away what is denied", []layer{{list, true}, {`{"network": "none"}`, false}, {`{"network": {"allow": ["c.d"]}}`, true}}, sandbox.Network{Mode: "allow", Allow: []string{"c.d"}, Deny: []string{"x.a.b"}, CA: "ephemeral", Upstream: "http://p:1"}},
		{"what an untrusted layer denies where nothing is allowed stays none", []layer{{`{"network": {"deny": ["a.b"]}}`, false}}, sandbox.Network{Mode: "none"}},
		{"and holds against the layers above", []layer{{`{"network": {"deny": ["a.b"]}}`, false}, {`{"network": {"allow": ["*.b"], "any": true}}`, true}}, sandbox.Network{Mode: "allow", Allow: []string{"*.b"}, Deny: []string{"a.b"}, Any: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var layers []sandbox.Layer
			for i, l := range c.layers {
				layers = append(layers, netLayer(t, fmt.Sprint("l", i), l.text, l.trusted))
			}
			p, err := resolveNetwork(layers...)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(p.Network, c.want) {
				t.Errorf("got  %+v\nwant %+v", p.Network, c.want)
			}
			if len(p.Publish) != len(c.want.Publish) {
				t.Errorf("ports %v", p.Publish)
			}
		})
	}
}

func Test_Network_Rules_Have_Their_Sources(t *testing.T) {
	global := netLayer(t, "global", "{\"network\": {\n\"allow\": [\"a.b\",\n\"c.d\"], \"deny\": [\"a.b\"], \"upstream\": \"http://u:hunter2@p:1\"}}", true)
	p, err := Resolve(sandbox.Spec{
		Layers: []sandbox.Layer{Defaults(), global},
		Policy: sandbox.Policy{Network: sandbox.Network{Mode: "allow", Allow: []string{"c.d", "e.f"}, PrivateHosts: []string{"e.f"}, Publish: []string{"80"}, CA: "ephemeral"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []NetworkRule{
		{"allow", "a.b", "global", "/global.json:2"},
		{"allow", "c.d", "global", "/global.json:3"},
		{"allow", "e.f", "flags", "--allow"},
		{"deny", "a.b", "global", "/global.json:3"},
		{"private_hosts", "e.f", "flags", "--private-host"},
		{"publish", "80:80", "flags", "--publish"},
		{"ca", "ephemeral", "flags", "--ca"},
		{"upstream", "http://p:1", "global", "/global.json:3"},
	}
	if !slices.Equal(p.NetworkRules, want) {
		t.Errorf("got  %v\nwant %v", p.NetworkRules, want)
	}
	if p.NetworkSource != "--allow" || p.NetworkLayer != LayerFlags {
		t.Errorf("the mode is from %s, %s", p.NetworkLayer, p.NetworkSource)
	}
	if r := p.NetworkRule("a.b"); r.List != "deny" {
		t.Errorf("what is allowed and denied is denied: %v", r)
	}
	if r := p.NetworkRule("no.rule"); r != (NetworkRule{}) {
		t.Errorf("a rule that is not there is %v", r)
	}
	if u := p.Upstream(); u == nil || u.Host != "p:1" || u.User.String() != "u:hunter2" {
		t.Errorf("upstream is %v", u)
	}
}

func Test_A_Merged_Network_Is_Checked_As_A_Whole(t *testing.T) {
	for _, c := range []struct {
		name   string
		layers []string
		want   string
		code   sandbox.Code
		hint   string
	}{
		{"any host", []string{"{\"network\": {\"allow\": [\"a.b\",\n\"*\"]}}"}, `/l0.json:2: network.allow[1]: rule "*": it allows every host; say that any host is meant, or name it`, sandbox.Invalid, `add "any": true if any host is meant`},
		{"any private host", []string{`{"network": {"private_hosts": ["*.corp"]}}`}, `/l0.json:1: network.private_hosts[0]: rule "*.corp": it allows a whole top-level domain; say that any host is meant, or name it`, sandbox.Invalid, `add "any": true if any host is meant`},
		{"a path without a CA", []string{`{}`, `{"network": {"allow": ["a.b"]}}`, "{\"network\": {\n\"deny\": [\"GET https://a.b/c\"]}}"}, `/l2.json:2: network.deny[0]: rule "GET https://a.b/c": methods and paths inside TLS cannot be seen without a CA`, sandbox.Unsupported, `write http:// for plain HTTP, drop the method and path, or add --ca ephemeral ("ca": "ephemeral")`},
		{"inspection without a CA", []string{`{"network": {"inspect": ["a.b"]}}`}, `/l0.json:1: network.inspect[0]: TLS cannot be inspected without a CA`, sandbox.Unsupported, `add --ca ephemeral ("ca": "ephemeral")`},
		{"a port for two", []string{`{"network": {"publish": ["80"]}}`, `{"network": {"publish": ["80:8080"]}}`}, `/l1.json:1: network.publish[0]: found port 80 of the host for port 8080, expected another: port 80 has it already`, sandbox.Invalid, ""},
		{"a CA that is not there", []string{"{\"network\": {\n\"ca\": \"/no/such.pem\"}}"}, `/l0.json:2: network.ca: /no/such.pem does not exist`, sandbox.NotFound, ""},
		{"a CA that is a directory", []string{`{"network": {"ca": "/usr"}}`}, `/l0.json:1: network.ca: "/usr" is a directory, expected a file`, sandbox.Invalid, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var layers []sandbox.Layer
			for i, text := range c.layers {
				layers = append(layers, netLayer(t, fmt.Sprint("l", i), text, true))
			}
			_, err := resolveNetwork(layers...)
			if err == nil || err.Error() != c.want || sandbox.CodeOf(err) != c.code || sandbox.HintOf(err) != c.hint {
				t.Errorf("got  %v (%s, %q)\nwant %s (%s, %q)", err, sandbox.CodeOf(err), sandbox.HintOf(err), c.want, c.code, c.hint)
			}
		})
	}
}

// A program that fills the lists without the mode allow gets an error, not a network that differs from its lists.
func Test_Network_Lists_Need_The_Mode_Allow(t *testing.T) {
	for _, n := range []sandbox.Network{
		{Allow: []string{"a.b"}},
		{Mode: sandbox.NetworkHost, Deny: []string{"a.b"}},
		{Mode: sandbox.NetworkNone, CA: "ephemeral"},
		{Any: true},
		{Mode: "open"},
	} {
		if _, err := Resolve(sandbox.Spec{Policy: sandbox.Policy{Network: n}}); sandbox.CodeOf(err) != sandbox.Invalid {
			t.Errorf("%+v: %v", n, err)
		}
	}
}

// Test_An_Untrusted_Network_Never_Opens compares stacks of random layers with and without
// the untrusted one among them.
func Test_An_Untrusted_Network_Never_Opens(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same stacks at every run
	some := func(words ...string) []string {
		var out []string
		for _, w := range words {
			if r.IntN(3) == 0 {
				out = append(out, w)
			}
		}
		return out
	}
	random := func() sandbox.Network {
		switch r.IntN(5) {
		case 0:
			return sandbox.Network{}
		case 1:
			return sandbox.Network{Mode: sandbox.NetworkNone}
		case 2:
			return sandbox.Network{Mode: sandbox.NetworkHost}
		}
		n := sandbox.Network{
			Mode: sandbox.NetworkAllow, Allow: some("a.x", "b.x", "*.x", "*", "10.0.0.0/8"), Deny: some("a.x", "b.x"),
			PrivateHosts: some("a.x"), Inspect: some("b.x"), Publish: some("80", "81:80"), Any: r.IntN(2) == 0,
		}
		n.CA = append(some("ephemeral"), "")[0]
		n.Upstream = append(some("http://p:1", "http://q:1"), "")[0]
		return n
	}
	accepted := 0
	for range 20000 {
		layers := make([]sandbox.Layer, 4)
		for i := range layers {
			layers[i] = sandbox.Layer{Name: fmt.Sprint("l", i), Trusted: i != 2, Policy: sandbox.Policy{Network: random()}}
		}
		layers[0] = Defaults()
		if layers[2].Policy.Network.Mode == "" || checkLayers(layers) != nil {
			continue
		}
		with, without := &Plan{}, &Plan{}
		s := mergeSettings(layers)
		if s.network.plan(with) != nil {
			continue
		}
		s = mergeSettings(slices.Delete(slices.Clone(layers), 2, 3))
		if s.network.plan(without) != nil {
			continue // the others are wrong by themselves
		}
		accepted++
		if what := opened(t, with, without); what != "" {
			t.Fatalf("the untrusted layer opens %s\nbelow %+v\nit    %+v\nabove %+v\nwith    %+v\nwithout %+v", what,
				layers[1].Policy.Network, layers[2].Policy.Network, layers[3].Policy.Network, with.Network, without.Network)
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d stacks were compared", accepted)
	}
}

// opened returns what can be reached with one plan and not without, or "".
func opened(t *testing.T, with, without *Plan) string {
	t.Helper()
	if without.Network.Mode == sandbox.NetworkHost {
		// An upstream proxy or a CA would let others read the traffic.
		if n := with.Network; n.Mode == sandbox.NetworkAllow && (n.CA != "" || n.Upstream != "" || len(n.Inspect) > 0) {
			return "a way to listen"
		}
		return ""
	}
	if with.Network.Mode == sandbox.NetworkNone {
		return ""
	}
	if with.Network.Mode == sandbox.NetworkHost || without.Network.Mode != sandbox.NetworkAllow {
		return "the network"
	}
	for _, name := range []string{"a.x", "b.x", "c.x", "example.com", "10.1.2.3"} {
		if with.ExplainHost(name).Verdict == VerdictAllowed && without.ExplainHost(name).Verdict != VerdictAllowed {
			return name
		}
	}
	for _, list := range []string{layer.ListPrivate, layer.ListPublish, layer.ListInspect} {
		for _, rule := range with.networkList(list) {
			if !slices.Contains(without.networkList(list), rule) {
				return list + " " + rule
			}
		}
	}
	if with.Network.CA != without.Network.CA || with.Network.Upstream != without.Network.Upstream {
		return "another CA or upstream proxy"
	}
	return ""
}

func Test_A_Host_Is_Explained_By_Its_Deciding_Rule(t *testing.T) {
	global := netLayer(t, "global", "{\"network\": {\"ca\": \"ephemeral\", \"any\": true, \"allow\": [\n\"a.b\",\n\"*.c.d:8000-8100\",\n\"GET https://e.f/pub/**\",\n\"0.0.0.0/0\",\n\"10.0.0.0/8:22\",\n\"http://g.h\"],\n\"deny\": [\"x.c.d\"]}}", true)
	p, err := resolveNetwork(global)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, ask, verdict, rule, source, reason, change string }{
		{"a name means port 443", "a.b", "allowed", "a.b", "/global.json:2", "a rule allows it", "--deny a.b"},
		{"case and a final dot do not matter", "A.B.:80", "allowed", "a.b", "/global.json:2", "a rule allows it", "--deny A.B.:80"},
		{"another port", "a.b:22", "denied", "", "/global.json:1", "no rule allows a.b on port 22", "--allow a.b:22"},
		{"the address that failed", "https://a.b/x?y=z#w", "allowed", "a.b", "/global.json:2", "a rule allows it", "--deny a.b"},
		{"an address with a login", "https://u:p@a.b:444/", "denied", "", "/global.json:1", "no rule allows a.b on port 444", "--allow a.b:444"},
		{"a subdomain in a range of ports", "y.c.d:8050", "allowed", "*.c.d:8000-8100", "/global.json:3", "a rule allows it", "--deny y.c.d:8050"},
		{"not the domain itself", "c.d:8050", "denied", "", "/global.json:1", "no rule allows c.d on port 8050", "--allow c.d:8050"},
		{"what is denied has no flag", "x.c.d:8050", "denied", "x.c.d", "/global.json:8", `the rule "x.c.d" denies it`, ""},
		{"a page that may be read", "https://e.f/pub/a", "allowed", "GET https://e.f/pub/**", "/global.json:4", "a rule allows it", "--deny e.f"},
		{"a page that may not", "https://e.f/own", "denied", "GET https://e.f/pub/**", "/global.json:4", `no rule for e.f allows "GET" "/own"`, "--allow 'GET https://e.f/own'"},
		{"plain HTTP where it is allowed", "http://g.h", "allowed", "http://g.h", "/global.json:7", "a rule allows it", "--deny g.h"},
		{"TLS where it is not", "https://g.h", "denied", "", "/global.json:1", "no rule allows g.h on port 443", "--allow g.h"},
		{"an address", "93.184.215.14", "allowed", "0.0.0.0/0", "/global.json:5", "a rule allows it", "--deny 93.184.215.14"},
		{"a wide rule does not reach this host", "127.0.0.1", "denied", "", "/global.json:1", "127.0.0.1 is a loopback address, which only a rule for the address allows", "--allow 127.0.0.1"},
		{"however it is written", "0x7f.1", "denied", "", "/global.json:1", "127.0.0.1 is a loopback address, which only a rule for the address allows", "--allow 127.0.0.1"},
		{"a private address that is named", "ssh://git@10.1.2.3/x", "allowed", "10.0.0.0/8:22", "/global.json:6", "a rule allows it", "--deny 10.1.2.3"},
		{"an invalid host", "a b", "denied", "", "/global.json:1", `host "a b": it has a space`, ""},
		{"nothing", "", "denied", "", "/global.json:1", `host "": it is empty`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := p.ExplainHost(c.ask)
			got := [5]string{e.Verdict, e.Rule, e.Source, e.Reason, e.Change}
			if want := [5]string{c.verdict, c.rule, c.source, c.reason, c.change}; got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			if strings.Contains(e.Name, "u:p") {
				t.Errorf("the explanation contains a login: %q", e.Name)
			}
		})
	}
}

// The flag that explain proposes must open the host, and its verdict must be that of the proxy.
func Test_The_Named_Flag_Opens_The_Host(t *testing.T) {
	for _, ask := range []string{"a.b", "a.b:22", "http://a.b", "10.0.0.1:5432", "[::1]:80", "https://127.0.0.1:8443/x", "münchen.example"} {
		t.Run(ask, func(t *testing.T) {
			before, err := resolveNetwork()
			if err != nil {
				t.Fatal(err)
			}
			rule, ok := strings.CutPrefix(before.ExplainHost(ask).Change, "--allow ")
			if !ok {
				t.Fatalf("%+v", before.ExplainHost(ask))
			}
			after, err := Resolve(sandbox.Spec{Policy: sandbox.Policy{Network: sandbox.Network{Mode: "allow", Allow: []string{strings.Trim(rule, "'")}}}})
			if err != nil {
				t.Fatal(err)
			}
			if e := after.ExplainHost(ask); e.Verdict != VerdictAllowed {
				t.Errorf("%s does not open it: %+v", rule, e)
			}
		})
	}
}

func Test_A_Plan_Without_An_Allow_List_Has_No_Host_Rules(t *testing.T) {
	p, err := resolveNetwork(netLayer(t, "global", `{"network": "host"}`, true))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := hosts.Compile(p.HostRules())
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := hosts.ParseHostPort("a.b", 443)
	if err != nil {
		t.Fatal(err)
	}
	if rules.Check(host, port).Allowed {
		t.Error("the proxy of a host's network allows a host")
	}
}
