package filesystem

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Presets_Are_Switched_By_Layers(t *testing.T) {
	cases := []struct {
		name    string
		lists   [][]string
		on, off []string
	}{
		{"all but git-strict by default", nil, []string{"@base", "@caches", "@agents", "@git", "@lint/go"}, []string{"@git-strict"}},
		{"an added one keeps the default", [][]string{{"@git-strict"}}, []string{"@base", "@git-strict"}, nil},
		{"a removed one", [][]string{{"!@caches"}}, []string{"@base", "@agents"}, []string{"@caches"}},
		{"a removed group", [][]string{{"!@lint/all"}}, []string{"@base"}, []string{"@lint/ts", "@lint/go", "@lint/python"}},
		{"a layer that names @all means it literally", [][]string{{"!@all", "@base"}}, []string{"@base"}, []string{"@caches", "@git", "@lint/go"}},
		{"the last toggle wins", [][]string{{"!@git", "@git", "!@git"}}, nil, []string{"@git"}},
		{"the last toggle wins across layers", [][]string{{"!@git"}, {"@git"}}, []string{"@git"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var layers []sandbox.Layer
			for _, l := range c.lists {
				layers = append(layers, sandbox.Layer{Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{Presets: l}}})
			}
			got, err := activePresets(layers, "/ws")
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range c.on {
				if !got[p] {
					t.Errorf("%s is off", p)
				}
			}
			for _, p := range c.off {
				if got[p] {
					t.Errorf("%s is on", p)
				}
			}
		})
	}
}
