package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Path_Rules_Of_An_Untrusted_Layer_Only_Tighten(t *testing.T) {
	type fs = sandbox.Filesystem
	cases := []struct {
		name   string
		global fs
		fs     fs
		want   string // in the error; empty: allowed
	}{
		{"hiding a path of the project", fs{}, fs{Exclude: []string{"secret", "*.key"}}, ""},
		{"making one read-only", fs{}, fs{RO: []string{"a", "missing"}}, ""},
		{"repeating what holds", fs{}, fs{RW: []string{"a"}, RO: []string{"~/x"}}, ""},
		{"opening and closing the same path", fs{}, fs{RW: []string{"~/x"}, Exclude: []string{"~/x"}}, ""},
		{"taking writable presets away", fs{}, fs{Presets: []string{"!@caches", "!@agents"}}, ""},
		{"adding a stricter preset", fs{}, fs{Presets: []string{"@git-strict"}}, ""},
		{"naming @all, which is the default", fs{}, fs{Presets: []string{"@all"}}, ""},

		{"writing home", fs{}, fs{RO: []string{"a"}, RW: []string{"~"}}, "p.json:5: filesystem.rw[0]"},
		{"writing a part of home", fs{}, fs{RW: []string{"a", "~/x"}}, "p.json:6: filesystem.rw[1]"},
		{"writing the host's /tmp", fs{}, fs{RW: []string{"/tmp"}}, "filesystem.rw[0]"},
		{"seeing the host's /var/tmp", fs{}, fs{RO: []string{"/var/tmp"}}, "p.json:7: filesystem.ro[0]"},
		{"seeing a secret", fs{}, fs{RO: []string{"~/.ssh"}}, "filesystem.ro[0]"},
		{"seeing a file of a secret", fs{}, fs{RO: []string{"~/.ssh/id"}}, "filesystem.ro[0]"},
		{"seeing secrets by a glob", fs{}, fs{RO: []string{"~/.s*/*"}}, "filesystem.ro[0]"},
		{"lifting a protection", fs{}, fs{RW: []string{".git/hooks"}}, "filesystem.rw[0]"},
		{"lifting a protection of a missing path", fs{}, fs{RW: []string{".idea"}}, "filesystem.rw[0]"},
		{"lifting a protection below a missing path", fs{}, fs{RW: []string{".idea/x"}}, ""}, // has no effect: only a trusted rule lifts a protection
		{"allowing new repositories", fs{}, fs{RW: []string{"a/.git"}}, ""},                  // nor does this
		{"removing the preset with the secrets", fs{}, fs{Presets: []string{"!@base"}}, "p.json:4: filesystem.presets[0]"},
		{"removing the protection of git", fs{}, fs{Presets: []string{"!@git"}}, "p.json:4: filesystem.presets[0]"},
		{"removing all presets", fs{}, fs{Presets: []string{"!@all"}}, "filesystem.presets[0]"},
		{"the seed's hole", fs{}, fs{Presets: []string{"!@all"}, RW: []string{"~"}}, "p.json:"},
		{"opening again what the global layer hides", fs{Exclude: []string{"a"}}, fs{RW: []string{"a/b"}}, "filesystem.rw[0]"},
		{"opening by an exact path what a glob hides", fs{Exclude: []string{"?"}}, fs{RO: []string{"a"}}, "filesystem.ro[0]"},
		{"turning on a preset that the global layer removed", fs{Presets: []string{"!@caches"}}, fs{Presets: []string{"@caches"}}, "filesystem.presets[0]"},
		{"the same by @all", fs{Presets: []string{"!@caches"}}, fs{Presets: []string{"@all"}}, "filesystem.presets[0]"},
		{"a socket", fs{}, fs{Sockets: []string{"/tmp/s"}}, "filesystem.sockets[0]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			spec := home(t, "home/.ssh/id", "home/x", "home/.cache/", "home/ws/a/b/f", "home/ws/secret", "home/ws/.git/HEAD", "home/ws/.git/config",
				"home/ws/.git/hooks/", "home/ws/.git/objects/", "home/ws/.git/refs/heads/x")
			writeFile(t, spec.Workspace+"/.git/HEAD", "ref: refs/heads/x\n")
			spec.Layers = []sandbox.Layer{
				{Name: "global", Trusted: true, Policy: fsPolicy(c.global)},
				{Name: "project", File: "p.json", Policy: fsPolicy(c.fs), Lines: map[string]int{
					"filesystem.presets[0]": 4, "filesystem.rw[0]": 5, "filesystem.rw[1]": 6, "filesystem.ro[0]": 7,
				}},
			}
			p, err := Resolve(spec)
			if c.want == "" {
				if err != nil {
					t.Fatalf("%v", err)
				}
				checkPlan(t, p)
				closed(t, p, spec.Workspace+"/.idea/x", spec.Workspace+"/.git/hooks/x")
				if !slices.Contains(p.NoRepos, spec.Workspace) {
					t.Errorf("new repositories are refused in %v", p.NoRepos)
				}
				return
			}
			if sandbox.CodeOf(err) != sandbox.Denied || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "may only tighten") || !strings.Contains(sandbox.HintOf(err), "trust p.json") {
				t.Fatalf("%v, hint %q, want %q", err, sandbox.HintOf(err), c.want)
			}
			spec.Layers[1].Trusted = true
			if _, err := Resolve(spec); err != nil {
				t.Errorf("trusted: %v", err)
			}
		})
	}
}

func Test_The_Configuration_Of_Agent_Sandbox_Cannot_Be_Made_Writable(t *testing.T) {
	spec := home(t, "home/.config/agent-sandbox/config.json", "home/.data/", "home/ws/conf/my.json")
	spec.Env = append(spec.Env, "XDG_DATA_HOME="+spec.Home+"/.data")
	spec.Layers = []sandbox.Layer{{Name: "config", File: spec.Workspace + "/conf/my.json", Trusted: true}}
	spec.Policy = fsPolicy(sandbox.Filesystem{RW: []string{"~"}})
	p := mustResolve(t, spec)
	closed(t, p, spec.Home+"/.config/agent-sandbox/config.json", spec.Home+"/.data/agent-sandbox", spec.Home+"/.local/state/agent-sandbox",
		spec.Workspace+"/.agent-sandbox.json", spec.Workspace+"/.agent-sandbox.jsonc", spec.Workspace+"/conf/my.json")
	writable(t, p, spec.Home+"/.config/x", spec.Workspace+"/conf/x")
	for _, path := range []string{"~/.config/agent-sandbox", "~/.config/agent-sandbox/config.json", "~/.data/agent-sandbox/trust"} {
		spec.Policy = fsPolicy(sandbox.Filesystem{RW: []string{path}})
		if _, err := Resolve(spec); sandbox.CodeOf(err) != sandbox.Denied {
			t.Errorf("--rw %s: %v", path, err)
		}
	}
	spec.Policy, spec.Workspace = sandbox.Policy{}, spec.Home+"/.config/agent-sandbox"
	closed(t, mustResolve(t, spec), spec.Workspace+"/config.json")
}
