package docker

import (
	"slices"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_The_Registry_Is_The_Users_Own(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		firewall []string
		env      []string
		want     []string
	}{
		{"none is named", []string{"@default"}, []string{"PATH=/bin"}, nil},
		{"it is not asked for", []string{"@github"}, []string{"NPM_CONFIG_REGISTRY=https://packages.example.com/npm"}, nil},
		{"TLS without a port", []string{"@default"}, []string{"npm_config_registry=https://packages.example.com/npm"}, []string{"packages.example.com:443"}},
		{"a port", []string{"@default"}, []string{"NPM_CONFIG_REGISTRY=http://packages.example.com:4873/"}, []string{"packages.example.com:4873"}},
		{"an IPv6 address", []string{"@default"}, []string{"NPM_CONFIG_REGISTRY=http://[2001:db8::1]/"}, []string{"[2001:db8::1]:80"}},
		{"no URL", []string{"@default"}, []string{"NPM_CONFIG_REGISTRY=::"}, nil},
	} {
		if got := registry(sandbox.Spec{Container: sandbox.Container{Firewall: c.firewall}, Env: c.env}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
