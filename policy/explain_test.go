package policy

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func Test_A_Path_Is_Explained_By_Its_Deciding_Rule(t *testing.T) {
	spec := home(t, "home/.ssh/id", "home/ws/a/f", "home/ws/link -> a", "home/ws/.git/HEAD", "home/ws/.git/objects/", "home/ws/.git/refs/",
		"home/ws/.git/hooks/", "home/.config/agent-sandbox/config.json")
	spec.Layers = []sandbox.Layer{
		{Name: "global", File: "/g.json", Trusted: true, Policy: fsPolicy(sandbox.Filesystem{RO: []string{"a"}}), Lines: map[string]int{"filesystem.ro[0]": 3}},
	}
	spec.Policy = fsPolicy(sandbox.Filesystem{RW: []string{"~/out", "a*"}})
	p := mustResolve(t, spec)
	ws := spec.Workspace
	cases := []struct{ name, path, verdict, rule, preset, layer, source, change string }{
		{"a user's rule", "a/f", "ro", "a", "", "global", "/g.json:3", "--rw " + ws + "/a/f"},
		{"through a link", "link/f", "ro", "a", "", "global", "/g.json:3", "--rw " + ws + "/a/f"},
		{"a preset", "~/.ssh/id", "exclude", "~/.ssh", "@base", "defaults", "built in", "--ro " + spec.Home + "/.ssh/id"},
		{"a secret that does not exist", "~/.netrc", "ro", "~/.netrc", "@base", "defaults", "built in", "--rw " + spec.Home + "/.netrc"},
		{"a protection", ".git/hooks", "ro", ws + "/.git/hooks", "@git", "protected", "built in", "--rw " + ws + "/.git/hooks"},
		{"a guard", ".mcp.json", "guarded", ws + "/.mcp.json", "", "protected", "built in", "--rw " + ws + "/.mcp.json"},
		{"below a guard", ".vscode/x", "guarded", ws + "/.vscode", "", "protected", "built in", "--rw " + ws + "/.vscode/x"},
		{"the workspace", "new", "rw", ".", "@base", "defaults", "built in", "--ro " + ws + "/new"},
		{"the system", "/usr/bin", "ro", "/", "", "defaults", "built in", "--rw /usr/bin"},
		{"what the driver brings", "/proc/1", "private", "", "", "", "built in", ""},
		{"a private file system", "/tmp/x", "private", "/tmp", "", "defaults", "built in", "--rw /tmp/x"},
		{"our own configuration", "~/.config/agent-sandbox/config.json", "ro", spec.Home + "/.config/agent-sandbox", "", "protected", "built in", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := p.ExplainPath(c.path)
			got := [6]string{e.Verdict, e.Rule, e.Preset, e.Layer, e.Source, e.Change}
			if want := [6]string{c.verdict, c.rule, c.preset, c.layer, c.source, c.change}; got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
	for path, want := range map[string]bool{"~/.netrc": true, "~/.gnupg/x": true, "~/.ssh/id": false, "~/other": false} {
		if reason := p.ExplainPath(path).Reason; strings.Contains(reason, "once it does, new sandboxes hide it") != want {
			t.Errorf("%s: %s", path, reason)
		}
	}
	losers := p.ExplainPath("a/f").Losing
	if len(losers) < 3 || losers[0].Rule != "a*" || losers[0].Source != "--rw" || losers[1].Rule != "." {
		t.Errorf("losing rules %+v", losers)
	}
}

func Test_The_Named_Change_Changes_The_Verdict(t *testing.T) {
	spec := home(t, "home/.ssh/id", "home/.cargo/bin/x", "home/ws/a/f", "home/ws/.git/HEAD", "home/ws/.git/objects/", "home/ws/.git/refs/", "home/ws/.git/hooks/x")
	before := mustResolve(t, spec)
	for _, path := range []string{".git/hooks/x", ".git/hooks", ".mcp.json", ".vscode/x/y", "~/.ssh", "~/.ssh/id", "~/.cargo/bin", "~/x", "a/f", "/usr/bin", ".git/info/grafts"} {
		t.Run(path, func(t *testing.T) {
			e := before.ExplainPath(path)
			flag, value, ok := strings.Cut(e.Change, " ")
			again := spec
			switch {
			case ok && flag == "--rw":
				again.Policy = fsPolicy(sandbox.Filesystem{RW: []string{value}})
			case ok && flag == "--ro":
				again.Policy = fsPolicy(sandbox.Filesystem{RO: []string{value}})
			default:
				t.Fatalf("change %q", e.Change)
			}
			after := mustResolve(t, again).ExplainPath(path)
			_, err := os.Lstat(e.Name)
			if after.Verdict == e.Verdict && err == nil || after.Verdict == VerdictGuarded {
				t.Errorf("%s changed nothing: %+v", e.Change, after)
			}
		})
	}
}

func Test_Commands_Sockets_And_Variables_Are_Explained(t *testing.T) {
	spec := home(t)
	socket := filepath.Join(spec.Workspace, "s")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	spec.Env = []string{"PATH=/usr/bin:/bin", "GITHUB_TOKEN=ghp_x", "LANG=C"}
	spec.Policy = sandbox.Policy{
		Commands:   map[string]sandbox.CommandRule{"cat": "false"},
		Filesystem: sandbox.Filesystem{Sockets: []string{"s", "later.sock"}},
	}
	p := mustResolve(t, spec)
	host := spec
	host.Policy.Network.Mode = sandbox.NetworkHost
	cases := []struct {
		name    string
		e       Explanation
		verdict string
		change  string
	}{
		{"a denied command", p.ExplainCommand("cat"), "denied", "--cmd cat=true"},
		{"a preset command", p.ExplainCommand("git"), "preset", "--cmd git=true"},
		{"a free command", p.ExplainCommand("ls"), "allowed", "--cmd ls=false"},
		{"a host without network", p.ExplainHost("example.com:443"), "denied", "--allow example.com"},
		{"a host with network", mustResolve(t, host).ExplainHost("example.com"), "allowed", "--network=none"},
		{"a listed socket", p.ExplainHost("unix:" + socket), "allowed", ""},
		{"a listed socket that is still missing", p.ExplainHost("unix://" + spec.Workspace + "/later.sock"), "allowed", ""},
		{"another socket", p.ExplainHost("unix:/x/y"), "denied", "--socket /x/y"},
		{"the Docker socket", p.ExplainHost("unix:/run/docker.sock"), "denied", "--docker"},
		{"a secret variable", p.ExplainEnv("GITHUB_TOKEN"), "denied", "--env GITHUB_TOKEN"},
		{"a plain variable", p.ExplainEnv("LANG"), "allowed", "--env '!LANG'"},
		{"a variable that is not there", p.ExplainEnv("NOPE"), "absent", "--env NOPE=VALUE"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.e.Verdict != c.verdict || c.e.Change != c.change || c.e.Reason == "" {
				t.Errorf("%+v", c.e)
			}
		})
	}
	if e := p.ExplainEnv("GITHUB_TOKEN"); strings.Contains(e.Reason+e.Change+e.Rule, "ghp_x") {
		t.Errorf("the explanation contains a value: %+v", e)
	}
}
