package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/treetest"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// configured is a home with these files, by name.
func configured(t *testing.T, files map[string]string, allow ...string) sandbox.Spec {
	t.Helper()
	dir := treetest.Dir(t)
	treetest.Make(t, dir, "home/ws/")
	for name, text := range files {
		path := filepath.Join(dir, "home", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec := sandbox.Spec{Workspace: filepath.Join(dir, "home/ws"), Home: filepath.Join(dir, "home"), Env: []string{"PATH=/usr/bin:/bin"}}
	if len(allow) > 0 {
		spec.Policy.Network = sandbox.Network{Mode: sandbox.NetworkAllow, Allow: allow}
	}
	return spec
}

const npmLogin = "registry=https://npm.example.com/\n//npm.example.com/:_authToken=hunter2hunter2\n"

func Test_A_Configuration_With_Credentials_Is_Shown_Without_Them(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		allow            []string
		policy           sandbox.Filesystem
		verdict, reason  string
		hosts            []string
	}{
		{name: "the network allows its host", file: ".npmrc", text: npmLogin, allow: []string{"npm.example.com"}, verdict: VerdictMasked, reason: "the proxy inserts those for https://npm.example.com", hosts: []string{"https://npm.example.com"}},
		{name: "the network allows another host", file: ".npmrc", text: npmLogin, allow: []string{"other.example.com"}, verdict: VerdictMasked, reason: "the network allows none of their hosts"},
		{name: "there is no network", file: ".npmrc", text: npmLogin, verdict: VerdictMasked, reason: "the network allows none"},
		{name: "another port is allowed", file: ".npmrc", text: npmLogin, allow: []string{"npm.example.com:8443"}, verdict: VerdictMasked, reason: "the network allows none"},
		{name: "it is not understood", file: ".npmrc", text: "registry=https://npm.example.com/?key=hunter2hunter2\n", verdict: "exclude", reason: "hidden: its credentials cannot be taken out: line 1: an address in it is not understood"},
		{name: "a rule opens it", file: ".npmrc", text: npmLogin, policy: sandbox.Filesystem{RO: []string{"~/.npmrc"}}, verdict: "ro"},
		{name: "a rule hides it", file: ".npmrc", text: npmLogin, policy: sandbox.Filesystem{Exclude: []string{"~/.npmrc"}}, verdict: "exclude", reason: "hidden: a directory is empty"},
		{name: "a file that is shown otherwise", file: ".config/pip/pip.conf", text: "[global]\nindex-url = https://joe:hunter2hunter2@pypi.example.com/simple\n", allow: []string{"*.example.com"}, verdict: VerdictMasked, hosts: []string{"https://pypi.example.com"}},
		{name: "such a file without credentials", file: ".config/pip/pip.conf", text: "[global]\ntimeout = 60\n", verdict: "ro", reason: "as on the host"},
		{name: "such a file that is not understood", file: ".config/pip/pip.conf", text: "hunter2hunter2\n", verdict: "exclude", reason: "cannot be taken out: line 1: its syntax is not understood"},
		{name: "a file in a shared cache", file: ".cargo/config.toml", text: "[registries.x]\nindex = \"sparse+https://cargo.example.com/i/\"\ntoken = \"hunter2hunter2\"\n", allow: []string{"cargo.example.com"}, verdict: VerdictMasked, hosts: []string{"https://cargo.example.com"}},
		{name: "a hidden file of Yarn", file: ".yarnrc.yml", text: "npmRegistryServer: https://yarn.example.com\nnpmAuthToken: hunter2hunter2\n", allow: []string{"yarn.example.com"}, verdict: VerdictMasked, hosts: []string{"https://yarn.example.com"}},
		{name: "a file of uv with a login", file: ".config/uv/uv.toml", text: "[[index]]\nurl = \"https://joe:hunter2hunter2@pypi.example.com/simple\"\n", allow: []string{"pypi.example.com"}, verdict: VerdictMasked, hosts: []string{"https://pypi.example.com"}},
		{name: "a file of uv without one", file: ".config/uv/uv.toml", text: "native-tls = true\n", verdict: "ro"},
		{name: "a file of pnpm", file: ".config/pnpm/rc", text: npmLogin, allow: []string{"npm.example.com"}, verdict: VerdictMasked, hosts: []string{"https://npm.example.com"}},
		{name: "a login of Poetry without its repository", file: ".config/pypoetry/auth.toml", text: "[http-basic.x]\npassword = \"hunter2hunter2\"\n", allow: []string{"*.example.com"}, verdict: VerdictMasked, reason: "the network allows none"},
		{name: "a mirror of Bundler", file: ".bundle/config", text: "BUNDLE_MIRROR__ALL: \"https://joe:hunter2hunter2@gems.example.com\"\n", allow: []string{"gems.example.com"}, verdict: VerdictMasked, hosts: []string{"https://gems.example.com"}},
		{name: "logins that uv stores", file: ".local/share/uv/credentials/credentials.toml", text: "x\n", verdict: "exclude"},
		{name: "git's configuration", file: ".gitconfig", text: "[url \"https://hunter2hunter2@git.example.com/\"]\n\tinsteadOf = https://git.example.com/\n", allow: []string{"git.example.com"}, verdict: VerdictMasked, hosts: []string{"https://git.example.com"}},
		{name: "git's configuration without credentials", file: ".gitconfig", text: "[user]\n\tname = Joe\n", verdict: "ro"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := configured(t, map[string]string{c.file: c.text}, c.allow...)
			spec.Policy.Filesystem = c.policy
			p := mustResolve(t, spec)
			e := p.ExplainPath("~/" + c.file)
			if e.Verdict != c.verdict || !strings.Contains(e.Reason, c.reason) || strings.Contains(e.Reason, "hunter2") {
				t.Errorf("got %s: %s, want %s: %s", e.Verdict, e.Reason, c.verdict, c.reason)
			}
			var hosts []string
			for _, r := range p.Redacted {
				hosts = append(hosts, r.Hosts...)
			}
			if !slices.Equal(hosts, c.hosts) {
				t.Errorf("inserted at %q, want %q", hosts, c.hosts)
			}
			if (p.Network.CA != "") != (len(c.hosts) > 0) {
				t.Errorf("the CA is %q", p.Network.CA)
			}
			if access, _ := p.Access(filepath.Join(spec.Home, c.file)); c.verdict == VerdictMasked && access != Exclude {
				t.Errorf("a driver that does not show it would give %s", access)
			}
		})
	}
}

func Test_Files_That_Git_Includes_Are_Shown_Without_Credentials(t *testing.T) {
	p := mustResolve(t, configured(t, map[string]string{
		".gitconfig": "[include]\n\tpath = .git-a\n[includeIf \"gitdir:~/x/\"]\n\tpath = ~/conf/b\n",
		".git-a":     "[include]\n\tpath = ~/.gitconfig\n[github]\n\ttoken = hunter2hunter2\n", "conf/b": "[user]\n\tname = Joe\n",
	}))
	for name, want := range map[string]string{".gitconfig": "ro", ".git-a": VerdictMasked, "conf/b": "ro"} {
		if e := p.ExplainPath("~/" + name); e.Verdict != want {
			t.Errorf("%s: got %s (%s), want %s", name, e.Verdict, e.Reason, want)
		}
	}
}

func Test_A_Configuration_Behind_A_Link_That_Commands_Could_Make_Is_Not_Read(t *testing.T) {
	spec := configured(t, map[string]string{"ws/npmrc": npmLogin}, "npm.example.com")
	if err := os.Symlink("ws/npmrc", filepath.Join(spec.Home, ".npmrc")); err != nil {
		t.Fatal(err)
	}
	p := mustResolve(t, spec)
	if e := p.ExplainPath("~/.npmrc"); e.Verdict != VerdictMasked || e.Name != filepath.Join(spec.Workspace, "npmrc") {
		t.Errorf("the user's own link: got %s of %s", e.Verdict, e.Name)
	}
	if err := os.Remove(filepath.Join(spec.Home, ".npmrc")); err != nil {
		t.Fatal(err)
	}
	for _, link := range [][2]string{{"ws/link", filepath.Join(spec.Home, ".bashrc")}, {".npmrc", "ws/link"}} {
		if err := os.Symlink(link[1], filepath.Join(spec.Home, link[0])); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(spec.Home, ".bashrc"), []byte(npmLogin), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := mustResolve(t, spec); len(p.Redacted) != 0 {
		t.Errorf("got %+v", p.Redacted)
	}
}
