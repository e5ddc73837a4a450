//go:build !kube && !memory && !agent

package program

import (
	"strings"
	"testing"
)

func Test_The_Program_Is_Chosen_By_The_Arguments(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", ""},
		{"--version", ""},
		{"-- make test", ""},
		{"exec -- true", ""},
		{"exec --backend bwrap -- true", ""},
		{"exec --backend docker -- true", Engines},
		{"--backend=docker -- true", Engines},
		{"create --backend kube work", Engines},
		{"list --namespace agents", Engines},
		{"list --context=test", Engines},
		{"exec --backend=virtual -- true", Memory},
		{"exec -- true --backend virtual", ""},
		{"exec --backend", ""},
		{"exec --backend nope -- true", ""},
		{"init .", Engines},
		{"init --help", ""},
		{"exec --backend docker --help", ""},
		{"volume", ""},
		{"agent run x --backend docker", Everything},
		{"skill list", Everything},
		{"mcp --backend virtual", Everything},
		{"__complete agent run", Everything},
		{"exec -- agent", ""},
		{"__complete destroy --backend kube", Engines},
	} {
		if got := Choose(strings.Fields(c.args)); got != c.want {
			t.Errorf("agent-sandbox %s: %q, want %q", c.args, got, c.want)
		}
	}
}
