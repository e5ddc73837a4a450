//go:build agent

package policies

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/policy"
)

// trustedAssistant implements trust for the assistant that target names.
func trustedAssistant(a *console.App, f trustFlags, dir, name, target string) error {
	h, err := host.Locate(a.Env, "")
	if err != nil {
		return err
	}
	store := &policy.Trust{Dir: h.TrustDir()}
	if !f.remove {
		return trustAssistant(a, store, dir, name, f.yes)
	}
	at := filepath.Join(dir, "assistants", name)
	var files []string
	for _, form := range []string{"yao", "jsonc", "json"} {
		if file := filepath.Join(at, "package."+form); filepath.Base(target) == name || filepath.Base(target) == filepath.Base(file) {
			files = append(files, file)
		}
	}
	return removeTrusted(a, store, at, files)
}

// trustAssistant trusts an assistant, named by its directory or package file, after it has shown what the assistant runs on
// this host.
func trustAssistant(a *console.App, store *policy.Trust, dir, name string, yes bool) error {
	root, err := assistant.Open(dir)
	if err != nil {
		return err
	}
	root.Trust = store
	found, err := root.Load(name)
	if err != nil {
		return err
	}
	if found.IsTrusted() {
		fmt.Fprintf(a.Out, "%s is trusted already\n", console.Escape(found.File))
		return nil
	}
	content, err := found.Content()
	if err != nil {
		return err
	}
	text, err := found.ReadFile(filepath.Base(found.File))
	if err != nil {
		return err
	}
	showText(a, found.File, text)
	fmt.Fprint(a.Out, "\nTrusted, it may do this on the host:\n")
	for _, line := range listAssistantRights(found) {
		fmt.Fprintf(a.Out, "  %s\n", console.Escape(line))
	}
	files := strings.Split(strings.TrimSpace(string(content)), "\n")
	fmt.Fprintf(a.Out, "\nThat is the assistant and the connectors beside it, %s:\n", console.Count(len(files), "file"))
	const most = 50
	for i, line := range files {
		if i == most {
			fmt.Fprintf(a.Out, "  and %d more\n", len(files)-most)
			break
		}
		fmt.Fprintf(a.Out, "  %s\n", console.Escape(line))
	}
	fmt.Fprintln(a.Out)
	return confirmTrust(a, store, found.File, content, yes)
}

// listAssistantRights lists what an assistant runs outside of sandboxes, and how it widens one.
func listAssistantRights(a *assistant.Assistant) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	c := a.Connector
	add("model: send what is said, and %s, to %s", c.Secret, c.BaseURL)
	if len(c.Secret.Command) > 0 {
		add("model: run %q for its key", c.Secret.Command)
	}
	for _, s := range a.Servers {
		var with strings.Builder
		for _, values := range []map[string]string{s.Env, s.Headers} {
			for _, name := range slices.Sorted(maps.Keys(values)) {
				if variable, ok := strings.CutPrefix(values[name], "$ENV."); ok {
					fmt.Fprintf(&with, ", with the variable %s as %s", variable, name)
				}
			}
		}
		if s.URL != "" {
			add("tools: connect to %s%s", s.URL, with.String())
		} else {
			add("tools: run %q%s", s.Command, with.String())
		}
	}
	if a.Hooks != "" {
		add("hooks: run %s before and after the model", a.Hooks)
	}
	if a.Sandbox != nil {
		out = append(out, listOpenings(a.Sandbox.Layer.Policy)...)
	}
	return out
}

// locateAssistant returns the root and the name of the assistant whose directory or package file target is.
func locateAssistant(target string) (dir, name string, ok bool) { return assistant.Locate(target) }

func assistantSchema(name string) ([]byte, error) { return assistant.Schema(name), nil }
