// Package examples_test checks that the example configurations are accepted.
package examples_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Every_Example_Configuration_Is_Accepted(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.json*")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 3 {
		t.Fatalf("found only %q", files)
	}
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			p, _, err := policy.Decode(name, data)
			if err != nil {
				t.Fatal(err)
			}
			if p.Network.Mode == "" {
				t.Error("an example says what can be reached")
			}
			// Without the permissions of other files, since a project's file often stands
			// alone.
			if _, err := policy.Resolve(sandbox.Spec{Layers: []sandbox.Layer{
				policy.Defaults(), {Name: policy.LayerConfig, Trusted: true, Policy: sandbox.Policy{Network: p.Network, Secrets: p.Secrets}},
			}}); err != nil {
				t.Error(err)
			}
		})
	}
}

func Test_Every_Example_Assistant_Is_Valid(t *testing.T) {
	t.Parallel()
	root, err := assistant.Open("assistants")
	if err != nil {
		t.Fatal(err)
	}
	entries, problems, err := root.List()
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	runs := map[string]bool{}
	for _, e := range entries {
		if len(e.Problems) > 0 {
			t.Errorf("%s: %v", e.Assistant.Name, e.Problems)
		}
		runs[e.Assistant.Name] = e.Assistant.Sandbox != nil
	}
	if len(runs) != 2 || !runs["coder"] || runs["qa"] {
		t.Errorf("found %v, expected a coder in a sandbox and one that answers questions", runs)
	}
	coder, err := root.Load("coder")
	if err != nil {
		t.Fatal(err)
	}
	if len(coder.Skills.Skills) != 1 || len(coder.Servers) != 1 || coder.Hooks == "" || len(coder.Prompts) != 1 {
		t.Errorf("the coder lacks a part: %+v", coder)
	}
}
