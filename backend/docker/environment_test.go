package docker

import (
	"slices"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/docker/image"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Without_A_Network_Npm_Does_Not_Repeat_Requests(t *testing.T) {
	host := []string{"PATH=/bin"}
	for _, row := range []struct {
		name string
		spec sandbox.Spec
		mode sandbox.NetworkMode
		set  []string
		want bool
	}{
		{"no network", sandbox.Spec{Env: host}, sandbox.NetworkNone, nil, true},
		{"the user's own number", sandbox.Spec{Env: host}, sandbox.NetworkNone, []string{"NPM_CONFIG_FETCH_RETRIES=3"}, false},
		{"no environment", sandbox.Spec{}, sandbox.NetworkNone, nil, false},
		{"a packet filter", sandbox.Spec{Env: host, Container: sandbox.Container{Firewall: []string{"example.com"}}}, sandbox.NetworkNone, nil, false},
		{"an allow-list", sandbox.Spec{Env: host}, sandbox.NetworkAllow, nil, false},
	} {
		p := &prepared{spec: row.spec, plan: &policy.Plan{}, image: &image.Image{}}
		p.plan.Network.Mode = row.mode
		env := p.environment(row.set, sandbox.Cmd{})
		if slices.Contains(env, "npm_config_fetch_retries=0") != row.want {
			t.Errorf("%s: %q", row.name, env)
		}
	}
}
