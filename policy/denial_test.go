package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Denials_Name_The_Rule_And_The_Way_To_Allow(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	home, ws, other := filepath.Join(root, "home"), filepath.Join(root, "ws"), filepath.Join(root, "other")
	for _, dir := range []string{home, filepath.Join(ws, ".git"), other} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(ws, ".git", "config")
	for _, name := range []string{config, filepath.Join(ws, ".git", "HEAD"), filepath.Join(home, ".gitconfig")} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	resolve := func(network sandbox.Network) *Plan {
		p, err := Resolve(sandbox.Spec{
			Workspace: ws, Home: home, Env: []string{"PATH=/usr/bin:/bin"},
			Policy: sandbox.Policy{
				Network: network, Filesystem: sandbox.Filesystem{RO: []string{other}},
				Commands: map[string]sandbox.CommandRule{"tail": "false"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	closed := resolve(sandbox.Network{})
	listed := resolve(sandbox.Network{Mode: sandbox.NetworkAllow, Allow: []string{"example.com"}})
	for _, c := range []struct {
		name string
		got  sandbox.Denial
		want sandbox.Denial
	}{
		{
			"a file that exists is opened by itself", closed.DeniedPath("write", other),
			sandbox.Denial{Kind: sandbox.DeniedFile, Op: "write", Target: other, Reason: "as on the host, read-only", Rule: other, Fix: "--rw " + other},
		},
		{
			"a new file needs its directory", closed.DeniedPath("create", filepath.Join(other, "new")),
			sandbox.Denial{Kind: sandbox.DeniedFile, Op: "create", Target: filepath.Join(other, "new"), Reason: "as on the host, read-only", Rule: other, Fix: "--rw " + other},
		},
		{
			"a fix does not open all of home for one file", closed.DeniedPath("create", filepath.Join(home, ".bashrc")),
			sandbox.Denial{
				Kind: sandbox.DeniedFile, Op: "create", Target: filepath.Join(home, ".bashrc"), Rule: "@base: ~", Source: "built in",
				Reason: "as on the host, read-only; create it on the host before it can be opened", Fix: "--rw " + filepath.Join(home, ".bashrc"),
			},
		},
		{
			"git replaces a protected file", closed.DeniedPath("rename", config+".lock"),
			sandbox.Denial{
				Kind: sandbox.DeniedFile, Op: "rename", Target: config + ".lock", Rule: "@git: " + config, Source: "built in",
				Reason: "as on the host, read-only", Fix: "--rw " + config,
			},
		},
		{
			"git replaces a file of the home", closed.DeniedPath("create", filepath.Join(home, ".gitconfig.lock")),
			sandbox.Denial{
				Kind: sandbox.DeniedFile, Op: "create", Target: filepath.Join(home, ".gitconfig.lock"), Rule: "@base: ~", Source: "built in",
				Reason: "as on the host, read-only; run the command that changes .gitconfig on the host",
			},
		},
		{
			"a guarded name is lifted by its own rule", closed.DeniedPath("create", filepath.Join(ws, ".vscode")),
			sandbox.Denial{
				Kind: sandbox.DeniedFile, Op: "create", Target: filepath.Join(ws, ".vscode"), Rule: filepath.Join(ws, ".vscode"), Source: "built in",
				Reason: "does not exist, or is a symbolic link, and may not be created", Fix: "--rw " + filepath.Join(ws, ".vscode"),
			},
		},
		{
			"a new repository", closed.DeniedPath("create", filepath.Join(ws, "new/.git")),
			sandbox.Denial{
				Kind: sandbox.DeniedFile, Op: "create", Target: filepath.Join(ws, "new/.git"), Rule: "@git: no new repositories", Source: "built in",
				Reason: "it would make a new git repository, whose configuration and hooks git obeys on the host", Fix: "--rw " + filepath.Join(ws, "new/.git"),
			},
		},
		{
			"a part of a new bare repository", closed.DeniedPath("rename", filepath.Join(ws, "new/objects")),
			sandbox.Denial{
				Kind: sandbox.DeniedFile, Op: "rename", Target: filepath.Join(ws, "new/objects"), Rule: "@git: no new repositories", Source: "built in",
				Reason: "it would make a new git repository, whose configuration and hooks git obeys on the host",
			},
		},
		{
			"a name that would write a line of its own is quoted", closed.DeniedPath("write", "/a\nb"),
			sandbox.Denial{Kind: sandbox.DeniedFile, Op: "write", Target: `"/a\nb"`, Reason: "as on the host, read-only", Rule: "/", Source: "built in", Fix: `--rw $'/a\nb'`},
		},
		{
			"a name server is named as one", closed.DeniedAddress("192.0.2.1:53"),
			sandbox.Denial{Kind: sandbox.DeniedSocket, Op: "connect", Target: "192.0.2.1:53", Reason: "there is no network, and so no name server", Rule: "network", Source: "built in", Fix: "--allow HOST"},
		},
		{
			"with an allow-list only the proxy reaches the network", listed.DeniedAddress("192.0.2.1:443"),
			sandbox.Denial{Kind: sandbox.DeniedSocket, Op: "connect", Target: "192.0.2.1:443", Reason: "only the proxy reaches the network, and this program did not use it (see HTTPS_PROXY)", Rule: "network"},
		},
		{
			"a refused command", closed.DeniedCommand("tail", "tail"),
			sandbox.Denial{Kind: sandbox.DeniedCommand, Op: "run", Target: "tail", Reason: "a wrapper refuses it", Rule: "tail=false", Fix: "--cmd tail=true"},
		},
		{
			"a refused argument", closed.DeniedCommand("git", "git push --force"),
			sandbox.Denial{
				Kind: sandbox.DeniedCommand, Op: "run", Target: "git push --force", Rule: "@git", Source: "built in",
				Reason: "the built-in rules for git refuse what could lose work", Fix: "--cmd git=true",
			},
		},
		{
			"a socket", closed.DeniedSocket("/run/x.sock"),
			sandbox.Denial{Kind: sandbox.DeniedSocket, Op: "connect", Target: "/run/x.sock", Reason: "no rule lists this socket of the host", Fix: "--socket /run/x.sock"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := c.got
			if got.Time.IsZero() {
				t.Error("it has no time")
			}
			got.Time = c.want.Time
			if c.want.Source == "" { // a flag's name, which other tests hold
				got.Source = ""
			}
			if got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}
