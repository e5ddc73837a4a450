package policy

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// agentSpec returns a spec with the socket of an SSH agent, and the socket.
func agentSpec(t *testing.T, layers ...sandbox.Layer) (sandbox.Spec, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "agent") //nolint:usetesting // the address of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"home", "w"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	socket := filepath.Join(dir, "s")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return sandbox.Spec{
		Workspace: filepath.Join(dir, "w"), Home: filepath.Join(dir, "home"), Env: []string{"SSH_AUTH_SOCK=" + socket}, Layers: layers,
	}, socket
}

func presetLayer(name string, trusted bool, presets ...string) sandbox.Layer {
	return sandbox.Layer{Name: name, Trusted: trusted, Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{Presets: presets}}}
}

func Test_Only_A_Trusted_Layer_Gives_The_SSH_Agent(t *testing.T) {
	for _, c := range []struct {
		name   string
		layers []sandbox.Layer
		code   sandbox.Code // of the error
		gives  bool
	}{
		{"none", nil, "", false},
		{"all presets", []sandbox.Layer{presetLayer(LayerGlobal, true, "@all")}, "", false},
		{"the user", []sandbox.Layer{presetLayer(LayerGlobal, true, "@ssh-agent")}, "", true},
		{"a project", []sandbox.Layer{presetLayer(LayerProject, false, "@ssh-agent")}, sandbox.Denied, false},
		{"a project beside others", []sandbox.Layer{presetLayer(LayerProject, false, "!@caches", "@ssh-agent")}, sandbox.Denied, false},
		{"a project that the user trusts", []sandbox.Layer{presetLayer(LayerProject, true, "@ssh-agent")}, "", true},
		{"a project that repeats the user", []sandbox.Layer{presetLayer(LayerGlobal, true, "@ssh-agent"), presetLayer(LayerProject, false, "@ssh-agent")}, "", true},
		{"a project that declines", []sandbox.Layer{presetLayer(LayerGlobal, true, "@ssh-agent"), presetLayer(LayerProject, false, "!@ssh-agent")}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, socket := agentSpec(t, c.layers...)
			p, err := Resolve(spec)
			if sandbox.CodeOf(err) != c.code {
				t.Fatal(err)
			}
			if err == nil && (p.SSHAgent == socket) != c.gives {
				t.Errorf("the agent is %q", p.SSHAgent)
			}
		})
	}
}

func Test_An_SSH_Agent_Where_A_Command_Could_Have_Put_It_Is_Refused(t *testing.T) {
	spec, socket := agentSpec(t, presetLayer(LayerGlobal, true, "@ssh-agent"))
	link := filepath.Join(spec.Workspace, "agent")
	if err := os.Symlink(socket, link); err != nil {
		t.Fatal(err)
	}
	spec.Env = []string{"SSH_AUTH_SOCK=" + link}
	if _, err := Resolve(spec); sandbox.CodeOf(err) != sandbox.Denied || !strings.Contains(err.Error(), "is a link that a sandbox could have made") {
		t.Error(err)
	}
	spec.Env = []string{"SSH_AUTH_SOCK=" + socket}
	p, err := Resolve(spec)
	if err != nil || slices.Contains(p.Sockets, socket) {
		t.Errorf("the user's own socket can be connected to: %v, %v", p, err)
	}
}
