package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// secretSpec is a home whose global file has these secrets, with an allow-list.
func secretSpec(t *testing.T, secrets map[string]sandbox.Secret, entries ...string) sandbox.Spec {
	t.Helper()
	spec := home(t, entries...)
	lines := map[string]int{}
	for name := range secrets {
		lines["secrets."+name] = 7
	}
	spec.Layers = []sandbox.Layer{{
		Name: LayerGlobal, File: "/g.json", Trusted: true, Lines: lines,
		Policy: sandbox.Policy{Network: sandbox.Network{Mode: sandbox.NetworkAllow, Allow: []string{"a.b"}}, Secrets: secrets},
	}}
	return spec
}

func executable(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func Test_Secrets_Find_Their_Source(t *testing.T) {
	hosts := []string{"a.b"}
	for _, c := range []struct {
		name   string
		label  string
		secret sandbox.Secret
		want   Secret // HOME stands for the home directory
	}{
		{"the variable of the same name", "TOKEN", sandbox.Secret{Hosts: hosts}, Secret{FromEnv: "TOKEN", Env: "TOKEN"}},
		{"inside under another name", "TOKEN", sandbox.Secret{Hosts: hosts, Env: "OTHER"}, Secret{FromEnv: "TOKEN", Env: "OTHER"}},
		{"another variable", "SHORT", sandbox.Secret{Hosts: hosts, FromEnv: "TOKEN"}, Secret{FromEnv: "TOKEN", Env: "SHORT"}},
		{"a file", "MODEL", sandbox.Secret{Hosts: hosts, FromFile: "~/.key", Header: "X-Key"}, Secret{FromFile: "HOME/.key", Env: "MODEL", Header: "X-Key"}},
		{"a file by a link", "MODEL", sandbox.Secret{Hosts: hosts, FromFile: "~/link"}, Secret{FromFile: "HOME/.key", Env: "MODEL"}},
		{"a file of the working directory", "MODEL", sandbox.Secret{Hosts: hosts, FromFile: ".env"}, Secret{FromFile: "HOME/ws/.env", Env: "MODEL"}},
		{"a file that is the value", "npm", sandbox.Secret{Hosts: hosts, File: "~/.npmrc"}, Secret{FromFile: "HOME/.npmrc", File: "HOME/.npmrc"}},
		{"a file that holds the value of a variable", "npm", sandbox.Secret{Hosts: hosts, FromEnv: "TOKEN", File: "~/.npmrc"}, Secret{FromEnv: "TOKEN", File: "HOME/.npmrc"}},
		{"a command of PATH", "TOK", sandbox.Secret{Hosts: hosts, FromCommand: []string{"tool", "show", "x"}}, Secret{FromCommand: []string{"HOME/bin/tool", "show", "x"}, Env: "TOK"}},
		{"a command by its path", "TOK", sandbox.Secret{Hosts: hosts, FromCommand: []string{"~/bin/tool"}}, Secret{FromCommand: []string{"HOME/bin/tool"}, Env: "TOK"}},

		{"a variable that is not there", "GONE", sandbox.Secret{Hosts: hosts}, Secret{FromEnv: "GONE", Env: "GONE", Missing: "the host has no variable GONE"}},
		{"a variable that is empty", "EMPTY", sandbox.Secret{Hosts: hosts}, Secret{FromEnv: "EMPTY", Env: "EMPTY", Missing: "the host has no variable EMPTY"}},
		{"a file that is not there", "A", sandbox.Secret{Hosts: hosts, FromFile: "~/gone"}, Secret{FromFile: "HOME/gone", Env: "A", Missing: "HOME/gone does not exist"}},
		{"a command that is not there", "A", sandbox.Secret{Hosts: hosts, FromCommand: []string{"gone"}}, Secret{FromCommand: []string{"gone"}, Env: "A", Missing: "there is no program gone"}},
		{"a file without which there is nothing to mask", "A", sandbox.Secret{Hosts: hosts, FromEnv: "TOKEN", File: "~/gone"}, Secret{FromEnv: "TOKEN", File: "HOME/gone", Missing: "HOME/gone does not exist"}},
		{"a file without which the variable is enough", "A", sandbox.Secret{Hosts: hosts, FromEnv: "TOKEN", Env: "B", File: "~/gone"}, Secret{FromEnv: "TOKEN", Env: "B"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := secretSpec(t, map[string]sandbox.Secret{c.label: c.secret}, "home/.key", "home/link -> .key", "home/.npmrc", "home/ws/.env")
			executable(t, spec.Home+"/bin/tool")
			spec.Env = []string{"PATH=relative:" + spec.Home + "/bin:/usr/bin", "TOKEN=hunter2hunter2", "EMPTY= "}
			p := mustResolve(t, spec)
			abs := func(s string) string { return strings.Replace(s, "HOME", spec.Home, 1) }
			want := c.want
			want.Name, want.Hosts, want.Layer, want.Source = c.label, hosts, LayerGlobal, "/g.json:7"
			want.FromFile, want.File, want.Missing = abs(want.FromFile), abs(want.File), abs(want.Missing)
			if len(want.FromCommand) > 0 {
				want.FromCommand[0] = abs(want.FromCommand[0])
			}
			if len(p.Secrets) != 1 || !reflect.DeepEqual(p.Secrets[0], want) {
				t.Errorf("got  %+v\nwant %+v", p.Secrets, want)
			}
			if text := fmt.Sprintf("%+v", p); strings.Contains(text, "hunter2") {
				t.Error("the plan holds the value")
			}
		})
	}
}

func Test_The_Variables_Of_Secrets_Stay_Outside(t *testing.T) {
	hosts := []string{"a.b"}
	spec := secretSpec(t, map[string]sandbox.Secret{
		"TOKEN":  {Hosts: hosts},
		"INSIDE": {FromEnv: "OUTSIDE", Hosts: hosts},
		"label":  {FromFile: "/etc/hostname", Env: "MASKED", Hosts: hosts},
		"SHORT":  {Hosts: hosts},
	})
	spec.Env = []string{
		"PATH=/usr/bin", "TOKEN=the-first-value", "OUTSIDE=the-other-value", "INSIDE=stale-value", "MASKED=stale", "label=stale",
		"COPY=the-first-value", "URL=x://u:the-other-value@h", "PLAIN=1", "SHORT=1", "TOKENS=x",
	}
	spec.Policy = sandbox.Policy{Env: sandbox.Env{
		Pass: []string{"*", "TOKEN", "OUTSIDE"},
		Set:  map[string]string{"INSIDE": "set", "SET": "a the-first-value b", "MASKED": "set"},
	}}
	p := mustResolve(t, spec)
	if want := []string{"PATH=/usr/bin", "PLAIN=1", "TMPDIR=/tmp", "TOKENS=x"}; !slices.Equal(p.Env, want) {
		t.Errorf("got  %q\nwant %q", p.Env, want)
	}
	want := []Dropped{
		{"COPY", "it holds the value of the secret TOKEN"},
		{"INSIDE", whyPlaceholder},
		{"MASKED", whyPlaceholder},
		{"OUTSIDE", whyPlaceholder},
		{"SET", "it holds the value of the secret TOKEN"},
		{"SHORT", whyPlaceholder},
		{"TOKEN", whyPlaceholder},
		{"URL", "it holds the value of the secret INSIDE"},
		{"label", whyPlaceholder},
	}
	if !slices.Equal(p.Dropped, want) {
		t.Errorf("got  %v\nwant %v", p.Dropped, want)
	}
	for name, verdict := range map[string]string{"TOKEN": VerdictMasked, "INSIDE": VerdictMasked, "MASKED": VerdictMasked, "OUTSIDE": VerdictDenied, "COPY": VerdictDenied} {
		e := p.ExplainEnv(name)
		if e.Verdict != verdict || e.Change != "" || strings.Contains(fmt.Sprint(e), "-value") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if e := p.ExplainEnv("TOKEN"); e.Rule != "secrets.TOKEN" || e.Source != "/g.json:7" || e.Layer != LayerGlobal {
		t.Errorf("%+v", e)
	}
}

// A flag may replace a secret of a file; the file's own source of the secret stays hidden.
func Test_A_Replaced_Secret_Is_Still_Secret(t *testing.T) {
	spec := secretSpec(t, map[string]sandbox.Secret{"A": {FromFile: "~/x", Hosts: []string{"a.b"}}, "B": {FromEnv: "OLD", Hosts: []string{"a.b"}}}, "home/x")
	spec.Env = []string{"PATH=/usr/bin", "A=1234567890", "B=abcdefghij", "OLD=zzzzzzzzzz"}
	spec.Policy = sandbox.Policy{
		Secrets:    map[string]sandbox.Secret{"A": {Hosts: []string{"c.d"}}, "B": {Hosts: []string{"c.d"}}},
		Env:        sandbox.Env{Pass: []string{"OLD"}},
		Filesystem: sandbox.Filesystem{RO: []string{"~/x"}},
	}
	p := mustResolve(t, spec)
	if len(p.Secrets) != 2 || p.Secrets[0].FromEnv != "A" || p.Secrets[0].Source != "--secret" || p.Secrets[0].Hosts[0] != "c.d" {
		t.Errorf("%+v", p.Secrets)
	}
	if access, _ := p.Access(spec.Home + "/x"); access != Exclude {
		t.Errorf("the file is %s", access)
	}
	if lookupEnv(p.Env, "OLD") != "" {
		t.Error("the old source passes")
	}
}

func Test_Files_Of_Secrets_Are_Hidden(t *testing.T) {
	hosts := []string{"a.b"}
	spec := secretSpec(t, map[string]sandbox.Secret{
		"A": {FromFile: "key", Hosts: hosts},
		"B": {FromFile: "link", Hosts: hosts},
		"C": {FromEnv: "TOKEN", File: ".env", Hosts: hosts},
		"D": {FromFile: "later", Hosts: hosts},
		"E": {FromEnv: "TOKEN", File: "own", Hosts: hosts},
		"F": {FromFile: "/run/secrets/f", Hosts: hosts},
	}, "home/ws/key", "home/ws/sub/real", "home/ws/link -> sub/real", "home/ws/.env", "home/ws/ca.pem")
	spec.Env = append(spec.Env, "TOKEN=hunter2hunter2")
	spec.Layers[0].Policy.Network.CA = "ca.pem"
	ws := spec.Workspace
	// No rule may open them again: neither an exact path, nor a glob, nor a later layer.
	spec.Policy = sandbox.Policy{Filesystem: sandbox.Filesystem{
		RW: []string{"key", "*", ".env", "sub", "later", "ca.pem"}, RO: []string{"link", "sub/real", "sub/*"},
	}}
	p := mustResolve(t, spec)
	for _, name := range []string{"key", "sub/real", ".env", "ca.pem"} {
		if access, rule := p.Access(filepath.Join(ws, name)); access != Exclude || rule.Layer != "protected" {
			t.Errorf("%s is %s by %+v", name, access, rule)
		}
		if e := p.ExplainPath(filepath.Join(ws, name)); e.Change != "" || e.Reason == pathReasons[Exclude] {
			t.Errorf("%+v", e)
		}
	}
	if e := p.ExplainPath(filepath.Join(ws, ".env")); e.Verdict != VerdictMasked || e.Source != "/g.json" {
		t.Errorf("%+v", e)
	}
	for name, want := range map[string]bool{"later": true, "link": true, "own": false} {
		if hasGuard(p, filepath.Join(ws, name)) != want {
			t.Errorf("%s: guarded is not %v", name, want)
		}
	}
	if p.Network.CA != filepath.Join(ws, "ca.pem") {
		t.Errorf("the CA is %s", p.Network.CA)
	}
	if p.Secrets[5].FromFile != "/run/secrets/f" {
		t.Errorf("%+v", p.Secrets[5])
	}
}

func Test_A_File_With_An_Upstream_Password_Is_Hidden(t *testing.T) {
	for upstream, want := range map[string]Access{"http://u:p@h:1": Exclude, "http://h:1": ReadOnly} {
		spec := home(t, "home/.config/agent-sandbox/config.json")
		file := spec.Home + "/.config/agent-sandbox/config.json"
		spec.Layers = []sandbox.Layer{{Name: LayerGlobal, File: file, Trusted: true, Policy: sandbox.Policy{
			Network: sandbox.Network{Mode: sandbox.NetworkAllow, Upstream: upstream},
		}}}
		if access, _ := mustResolve(t, spec).Access(file); access != want {
			t.Errorf("%s: the file is %s, want %s", upstream, access, want)
		}
	}
}

func Test_Secrets_Are_Refused(t *testing.T) {
	hosts := []string{"a.b"}
	one := func(name string, s sandbox.Secret) map[string]sandbox.Secret {
		return map[string]sandbox.Secret{name: s}
	}
	for _, c := range []struct {
		name    string
		secrets map[string]sandbox.Secret
		change  func(*sandbox.Spec)
		want    string // WS stands for the workspace
		code    sandbox.Code
		hint    string
	}{
		{
			"beside the host's network", one("TOKEN", sandbox.Secret{Hosts: hosts}), func(s *sandbox.Spec) { s.Policy.Network.Mode = sandbox.NetworkHost },
			"/g.json:7: secrets.TOKEN: found a secret beside the host's network, expected an allow-list", sandbox.Invalid,
			"only the proxy of an allow-list can put a value in: name the hosts with --allow, or leave the secret out",
		},
		{
			"asked for with a flag and not there", nil, func(s *sandbox.Spec) { s.Policy.Secrets = one("GONE", sandbox.Secret{Hosts: hosts}) },
			"flags: secrets.GONE: the host has no variable GONE", sandbox.NotFound, "",
		},
		{"a directory", one("A", sandbox.Secret{FromFile: "sub", Hosts: hosts}), nil, `/g.json: secrets.A.from_file: "sub" is a directory, expected a file`, sandbox.Invalid, ""},
		{"a masked file of the sandbox's own", one("A", sandbox.Secret{FromEnv: "TOKEN", File: "/run/x", Hosts: hosts}), nil, `/g.json: secrets.A.file: "/run/x": /run belongs to the sandbox`, sandbox.Invalid, ""},
		{
			"a link that leads out of the workspace", one("A", sandbox.Secret{FromFile: "planted", Hosts: hosts}), nil,
			`/g.json: secrets.A.from_file: "planted": WS/planted is a link that a sandbox could have made, and leads to /etc/passwd`, sandbox.Denied, "name /etc/passwd itself if that is meant",
		},
		{
			"the same for a masked file", one("A", sandbox.Secret{FromEnv: "TOKEN", File: "planted", Hosts: hosts}), nil,
			`/g.json: secrets.A.file: "planted": WS/planted is a link that a sandbox could have made, and leads to /etc/passwd`, sandbox.Denied, "name /etc/passwd itself if that is meant",
		},
		{
			"a program that commands can write", one("A", sandbox.Secret{FromCommand: []string{"./tool"}, Hosts: hosts}), nil,
			`/g.json: secrets.A.from_command: commands in the sandbox can write WS/tool, which would run outside`, sandbox.Denied, "protect it with --ro WS/tool, or name another program",
		},
		{
			"a program that they planted in PATH", one("A", sandbox.Secret{FromCommand: []string{"env"}, Hosts: hosts}), func(s *sandbox.Spec) { s.Env[0] = "PATH=" + s.Workspace + "/bin:/usr/bin" },
			`/g.json: secrets.A.from_command: commands in the sandbox can write WS/bin/env, which would run outside`, sandbox.Denied, "name /usr/bin/env itself if that is meant",
		},
		{
			"one variable for two",
			map[string]sandbox.Secret{"A": {FromEnv: "TOKEN", Env: "X", Hosts: hosts}, "B": {FromEnv: "TOKEN", Env: "X", Hosts: hosts}},
			nil,
			`/g.json:7: secrets.B: found the variable X, which is also that of the secret "A", expected another`, sandbox.Invalid, "",
		},
		{
			"a file that is one value and holds another",
			map[string]sandbox.Secret{"A": {File: "key", Hosts: hosts}, "B": {FromEnv: "TOKEN", File: "key", Hosts: hosts}},
			nil,
			`/g.json: secrets.B.file: found a file that is also that of the secret "A", expected from_env, from_file or from_command in both`, sandbox.Invalid, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := secretSpec(t, c.secrets, "home/ws/sub/", "home/ws/key", "home/ws/planted -> /etc/passwd", "home/ws/bin/env -> /usr/bin/env")
			executable(t, spec.Workspace+"/tool")
			spec.Env = []string{"PATH=/usr/bin", "TOKEN=hunter2hunter2"}
			if c.change != nil {
				c.change(&spec)
			}
			_, err := Resolve(spec)
			ws := func(s string) string { return strings.ReplaceAll(s, "WS", spec.Workspace) }
			if err == nil || err.Error() != ws(c.want) || sandbox.CodeOf(err) != c.code || sandbox.HintOf(err) != ws(c.hint) {
				t.Errorf("got  %v (%s, %q)\nwant %s (%s, %q)", err, sandbox.CodeOf(err), sandbox.HintOf(err), ws(c.want), c.code, ws(c.hint))
			}
		})
	}
}

func Test_A_Program_That_Is_Protected_May_Fetch_A_Secret(t *testing.T) {
	spec := secretSpec(t, map[string]sandbox.Secret{"A": {FromCommand: []string{"./tool"}, Hosts: []string{"a.b"}}})
	executable(t, spec.Workspace+"/tool")
	spec.Policy = fsPolicy(sandbox.Filesystem{RO: []string{"tool"}})
	if p := mustResolve(t, spec); p.Secrets[0].FromCommand[0] != spec.Workspace+"/tool" {
		t.Errorf("%+v", p.Secrets)
	}
}

func Test_One_File_May_Hold_Two_Secrets(t *testing.T) {
	spec := secretSpec(t, map[string]sandbox.Secret{
		"A": {FromEnv: "X", File: "key", Hosts: []string{"a.b"}}, "B": {FromEnv: "Y", File: "key", Hosts: []string{"c.d"}},
	}, "home/ws/key")
	spec.Env = append(spec.Env, "X=1", "Y=2")
	if p := mustResolve(t, spec); p.Secrets[0].File != p.Secrets[1].File || p.Secrets[0].File == "" {
		t.Errorf("%+v", p.Secrets)
	}
}

func Test_A_Secret_For_TLS_Brings_Its_CA(t *testing.T) {
	for _, c := range []struct {
		name    string
		network sandbox.Network
		secret  sandbox.Secret
		want    string
	}{
		{"an allow-list", sandbox.Network{Mode: "allow"}, sandbox.Secret{Hosts: []string{"a.b"}}, EphemeralCA},
		{"an allow-list with one", sandbox.Network{Mode: "allow", CA: "/etc/hostname"}, sandbox.Secret{Hosts: []string{"a.b"}}, "/etc/hostname"},
		{"plain HTTP only", sandbox.Network{Mode: "allow"}, sandbox.Secret{Hosts: []string{"http://a.b"}}, ""},
		{"a secret that this host lacks", sandbox.Network{Mode: "allow"}, sandbox.Secret{FromEnv: "GONE", Hosts: []string{"a.b"}}, ""},
		{"no network, and only a placeholder", sandbox.Network{Mode: "none"}, sandbox.Secret{Hosts: []string{"a.b"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := secretSpec(t, map[string]sandbox.Secret{"TOKEN": c.secret})
			spec.Layers[0].Policy.Network = c.network
			spec.Env = append(spec.Env, "TOKEN=x")
			p := mustResolve(t, spec)
			if p.Network.CA != c.want || len(p.Secrets) != 1 {
				t.Errorf("%+v, %+v", p.Network, p.Secrets)
			}
		})
	}
}
