package policy

import (
	"maps"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// projectLayer is an untrusted file with this content.
func projectLayer(t *testing.T, text string) sandbox.Layer {
	t.Helper()
	p, lines, err := Decode("/p/c.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sandbox.Layer{Name: LayerProject, File: "/p/c.json", Policy: p, Lines: lines}
}

const openGlobal = `{"network": "host", "docker": true, "userns": true, "debuggers": true, "backend": "bwrap",
"commands": {"git": true, "npm": "/w.sh", "rm": false},
"limits": {"wall": "10m", "memory": "2GiB", "pids": 100, "cpu": 2, "output": "64MiB", "tmp": "1GiB"}}`

const listGlobal = `{"network": {"allow": ["a.b"], "deny": ["x.a.b"], "private_hosts": ["a.b"], "inspect": ["a.b"], "publish": ["80"],
"ca": "ephemeral", "upstream": "http://p:1"}}`

func Test_Settings_Of_An_Untrusted_Layer_Only_Tighten(t *testing.T) {
	for _, c := range []struct {
		name, global, project string
		want                  string // line and key; empty: allowed
	}{
		{"nothing", `{}`, `{}`, ""},
		{"what is so already", `{}`, `{"network": "none", "docker": false, "commands": {"git": "@git", "ls": true}, "limits": {"pids": 4096}}`, ""},
		{"everything tighter", openGlobal, `{"network": "none", "docker": false, "userns": false, "debuggers": false,
			"commands": {"git": "@git", "npm": false, "ls": false}, "env": {"deny": ["*"]},
			"limits": {"wall": "1m", "memory": "1GiB", "pids": 10, "cpu": 1, "output": "1MiB", "tmp": "1MiB", "file": "1MiB"}}`, ""},
		{"the same again", openGlobal, openGlobal, ""},
		{"limits where there were none", `{}`, `{"limits": {"wall": "1h", "memory": "1TiB", "cpu": 64, "output": "16MiB"}}`, ""},
		{"git refused", `{}`, `{"commands": {"git": false}}`, ""},
		{"paths are judged elsewhere", `{}`, `{"filesystem": {"rw": ["/"]}}`, ""},

		{"network", `{}`, "{\n\"network\": \"host\"}", "2: network"},
		{"an allow-list in the place of the host's network", openGlobal, `{"network": {"allow": ["a.b"], "deny": ["c.d"], "private_hosts": ["e"], "publish": ["80"]}}`, ""},
		{"more denied", listGlobal, `{"network": {"deny": ["e.f", "*"]}}`, ""},
		{"denied where nothing is allowed", `{}`, `{"network": {"deny": ["e.f"]}}`, ""},
		{"the same list again", listGlobal, listGlobal, ""},
		{"no network in the place of a list", listGlobal, `{"network": "none"}`, ""},
		{"the host's network in the place of a list", listGlobal, `{"network": "host"}`, "1: network"},
		{"another host", listGlobal, "{\"network\": {\"allow\": [\"a.b\",\n\"c.d\"]}}", "2: network.allow[1]"},
		{"a host where there was none", `{}`, `{"network": {"allow": ["a.b"]}}`, "1: network.allow[0]"},
		{"another private host", listGlobal, `{"network": {"private_hosts": ["x"]}}`, "1: network.private_hosts[0]"},
		{"another host to read", listGlobal, `{"network": {"inspect": ["x"]}}`, "1: network.inspect[0]"},
		{"a host to read on the host's network", openGlobal, `{"network": {"inspect": ["x"]}}`, "1: network.inspect[0]"},
		{"another port", listGlobal, `{"network": {"publish": ["81"]}}`, "1: network.publish[0]"},
		{"a port where there was nothing", `{}`, `{"network": {"publish": ["81"]}}`, "1: network.publish[0]"},
		{"any host", listGlobal, `{"network": {"any": true}}`, "1: network.any"},
		{"another CA", listGlobal, `{"network": {"ca": "own.pem"}}`, "1: network.ca"},
		{"a CA of its own on the host's network", openGlobal, `{"network": {"ca": "own.pem"}}`, "1: network.ca"},
		{"another upstream proxy", listGlobal, `{"network": {"upstream": "http://evil:1"}}`, "1: network.upstream"},
		{"an upstream proxy on the host's network", openGlobal, `{"network": {"allow": ["a.b"], "upstream": "http://evil:1"}}`, "1: network.upstream"},
		{"a secret", `{}`, "{\"secrets\": {\n\"A\": {\"from_command\": [\"rm\"], \"hosts\": [\"evil.example\"]}}}", "2: secrets.A"},
		{"a secret that is there already", listGlobal, `{"secrets": {"A": {"hosts": ["a.b"]}}}`, "1: secrets.A"},
		{"the first line of a network", openGlobal, "{\"network\": {\"ca\": \"x\",\n\"inspect\": [\"x\"]}}", "1: network.ca"},
		{"docker", `{}`, `{"docker": true}`, "1: docker"},
		{"userns", `{}`, `{"userns": true}`, "1: userns"},
		{"debuggers", `{}`, `{"debuggers": true}`, "1: debuggers"},
		{"another backend", openGlobal, `{"backend": "docker"}`, "1: backend"},
		{"any backend", `{}`, `{"backend": "bwrap"}`, "1: backend"},
		{"a /tmp that lasts", `{}`, `{"filesystem": {"tmp": "keep"}}`, "1: filesystem.tmp"},
		{"a /tmp that ends", `{"filesystem": {"tmp": "keep"}}`, `{"filesystem": {"tmp": "fresh"}}`, ""},
		{"a /tmp that lasts already", `{"filesystem": {"tmp": "keep"}}`, `{"filesystem": {"tmp": "keep"}}`, ""},
		{"sockets", `{}`, `{"filesystem": {"sockets": ["/x"]}}`, "1: filesystem.sockets[0]"},
		{"git set free", `{}`, `{"commands": {"git": true}}`, "1: commands.git"},
		{"a refused command set free", openGlobal, `{"commands": {"rm": true}}`, "1: commands.rm"},
		{"a refused git behind its preset", `{"commands": {"git": false}}`, `{"commands": {"git": "@git"}}`, "1: commands.git"},
		{"a script", `{}`, `{"commands": {"npm": "./w.sh"}}`, "1: commands.npm"},
		{"a wrapper taken away", openGlobal, `{"commands": {"npm": true}}`, "1: commands.npm"},
		{"env.pass", `{}`, `{"env": {"deny": ["A"], "pass": ["GH_TOKEN"]}}`, "1: env.pass[0]"},
		{"env.set", `{}`, `{"env": {"set": {"LD_PRELOAD": "x"}}}`, "1: env.set.LD_PRELOAD"},
		{"more processes than the default", `{}`, `{"limits": {"pids": 4097}}`, "1: limits.pids"},
		{"more time", openGlobal, `{"limits": {"wall": "11m"}}`, "1: limits.wall"},
		{"more memory", openGlobal, `{"limits": {"memory": "3GiB"}}`, "1: limits.memory"},
		{"reserved memory", `{}`, `{"requests": {"memory": "1MiB"}}`, "1: requests.memory"},
		{"reserved processors", `{}`, `{"requests": {"cpu": 0.1}}`, "1: requests.cpu"},
		{"more processors", openGlobal, `{"limits": {"cpu": 2.1}}`, "1: limits.cpu"},
		{"more output than we keep", `{}`, `{"limits": {"output": "17MiB"}}`, "1: limits.output"},
		{"larger files than memory has", `{}`, `{"limits": {"file": "300MiB"}}`, "1: limits.file"},
		{"larger files than allowed", `{"limits": {"file": "1MiB"}}`, `{"limits": {"file": "2MiB"}}`, "1: limits.file"},
		{"a /tmp of unknown proportion", `{}`, `{"limits": {"tmp": "1MiB"}}`, "1: limits.tmp"},
		{"the first line of several", `{}`, "{\"limits\": {\"pids\": 5000},\n\"network\": \"host\"}", "1: limits.pids"},
	} {
		t.Run(c.name, func(t *testing.T) {
			global := projectLayer(t, c.global)
			global.Name, global.Trusted = LayerGlobal, true
			project := projectLayer(t, c.project)
			err := checkLayers([]sandbox.Layer{Defaults(), global, project, {Name: LayerFlags, Trusted: true}})
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if want := "/p/c.json:" + c.want + ": a project file may only tighten the policy"; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if sandbox.CodeOf(err) != sandbox.Denied || sandbox.HintOf(err) != "read it, then run: agent-sandbox trust /p/c.json" {
				t.Errorf("code %s, hint %q", sandbox.CodeOf(err), sandbox.HintOf(err))
			}
			project.Trusted = true
			if err := checkLayers([]sandbox.Layer{Defaults(), global, project}); err != nil {
				t.Errorf("trusted: %v", err)
			}
		})
	}
}

// A layer made by a program that forgot to say whether it is trusted is not.
func Test_A_Layer_Is_Untrusted_By_Default(t *testing.T) {
	err := checkLayers([]sandbox.Layer{Defaults(), {Policy: sandbox.Policy{Network: sandbox.Network{Mode: sandbox.NetworkHost}}}})
	if want := "policy: network: a project file may only tighten the policy"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func Test_A_Limit_Is_Required_When_A_Layer_Sets_It(t *testing.T) {
	global := sandbox.Layer{
		Name: LayerGlobal, File: "/g.json", Trusted: true, Lines: map[string]int{"limits.memory": 4, "limits.cpu": 5},
		Policy: sandbox.Policy{Limits: sandbox.Limits{Memory: 1 << 30, CPU: 1.5}},
	}
	flags := sandbox.Layer{Name: LayerFlags, Trusted: true, Policy: sandbox.Policy{Limits: sandbox.Limits{CPU: 2, Wall: 1}}}
	got := resolveLimits([]sandbox.Layer{Defaults(), global, flags})
	want := sandbox.Limits{Memory: 1 << 30, CPU: 2, Wall: 1, Pids: DefaultPids}
	if got.Limits != want {
		t.Errorf("got %+v, want %+v", got.Limits, want)
	}
	if want := map[string]string{"memory": "/g.json:4", "cpu": "--limit", "wall": "--limit"}; !maps.Equal(got.Required, want) {
		t.Errorf("required %v, want %v", got.Required, want)
	}
	if pids := resolveLimits([]sandbox.Layer{Defaults(), {Name: LayerFlags, Policy: sandbox.Policy{Limits: sandbox.Limits{Pids: DefaultPids}}}}); pids.Required["pids"] != "--limit" {
		t.Error("a limit that repeats the default is not required")
	}
}
