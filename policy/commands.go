package policy

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/policy/internal/program"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// commandRule is the rule of one command after all layers are merged.
type commandRule struct {
	rule   sandbox.CommandRule
	key    string
	layer  sandbox.Layer
	source string
}

// commandRules takes the rule of each command from the last layer that has one.
func commandRules(layers []sandbox.Layer) map[string]commandRule {
	rules := map[string]commandRule{}
	for _, l := range layers {
		for name, rule := range l.Policy.Commands {
			key := "commands." + name
			rules[name] = commandRule{rule: rule, key: key, layer: l, source: layer.Source(l, key)}
		}
	}
	return rules
}

// resolveCommands finds the programs of every command that is not simply allowed, by name. env is the resolved environment of the
// sandbox, dir the absolute directory that relative scripts start at, home the directory that ~ stands for.
//
// Targets are all programs that the name resolves to, through symbolic links, in the directories of PATH and in the standard
// ones; for git also those in its exec-path, which git adds to the PATH of the programs that it starts. A command without a
// target is left out, because a policy must work on hosts that lack a tool. A script that cannot be read is still an error.
//
// A target may serve other names than the wrapped one (busybox, bun for bunx), and two commands may share one. So a rule belongs
// to a name, and a target is only a path that the launcher must replace. The layout of package guest defines how the launcher
// finds the rule by argv 0; it runs the target itself for names without a rule.
func resolveCommands(layers []sandbox.Layer, env []string, dir, home string) ([]Command, error) {
	rules := commandRules(layers)
	dirs := commandDirs(lookupEnv(env, "PATH"))
	var commands []Command
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		r := rules[name]
		c := Command{Name: name, Source: r.source}
		switch {
		case r.rule == "true":
			continue
		case r.rule == "false":
			c.Rule = "deny"
		case strings.HasPrefix(string(r.rule), "@"):
			c.Rule = "preset"
		default:
			c.Rule = "script"
			text, err := readWrapper(r, dir, home)
			if err != nil {
				return nil, err
			}
			c.Script = text
		}
		targets := program.Find(name, dirs)
		if len(targets) == 0 {
			continue
		}
		if c.Rule != "deny" {
			c.Real = program.Real(targets, c.Rule == "preset")
			c.Tree = program.Tree(c.Real)
		}
		if name == "git" {
			targets = append(targets, program.OfGit(targets)...)
		}
		slices.Sort(targets)
		c.Targets = slices.Compact(targets)
		commands = append(commands, c)
	}
	return commands, nil
}

// commandDirs lists the directories to look for commands in: those of PATH in
// their order, then the standard ones, since absolute paths work without PATH.
func commandDirs(path string) []string {
	var dirs []string
	for _, d := range filepath.SplitList(path + ":" + defaultPath) {
		if d = filepath.Clean(d); filepath.IsAbs(d) && !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// readWrapper returns the text of the script that a rule names.
func readWrapper(r commandRule, dir, home string) ([]byte, error) {
	written := string(r.rule)
	path := written
	switch rest, tilde := strings.CutPrefix(written, "~/"); {
	case tilde && home == "":
		return nil, layer.Errorf(r.layer, r.key, "found %s, but there is no home directory, expected another path", jsonc.Clip(written))
	case tilde:
		path = filepath.Join(home, rest)
	case !filepath.IsAbs(written):
		path = filepath.Join(dir, written)
	}
	text, err := readRegular(path)
	if err != nil {
		wrong := layer.Errorf(r.layer, r.key, "script %s: %w", jsonc.OneLine(path), err.Err)
		wrong.Code = err.Code
		return nil, wrong
	}
	// The launcher executes the text itself: without the first line that would fail
	// at every use.
	if !strings.HasPrefix(string(text), "#!") {
		return nil, layer.Errorf(r.layer, r.key, "script %s: found no #! line, expected one such as #!/bin/sh", jsonc.OneLine(path))
	}
	return text, nil
}
