package policy

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// commandRule is what the layers together say about one command.
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
			rules[name] = commandRule{rule: rule, key: key, layer: l, source: layerSource(l, key)}
		}
	}
	return rules
}

// resolveCommands finds the programs behind every command that is not simply
// allowed, by name. env is the resolved environment of the sandbox, dir the
// absolute directory that relative scripts start at, home what ~ stands for.
//
// Targets are all programs that the name leads to, through symbolic links, in the
// directories of PATH and, whatever PATH says, in the standard ones; for git also
// those in its exec-path, which every git puts in the PATH of what it starts. A
// command without any is left out: there is nothing to wrap, and a policy must
// work on hosts that lack a tool. A script that cannot be read is an error all
// the same.
//
// A target may serve other names than the wrapped one (busybox, bun for bunx), and
// two commands may share one. So a rule belongs to a name and a target only says
// where the launcher must stand: package guest's layout tells how the launcher
// finds the rule by argv 0, and runs the target itself for names without a rule.
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
		targets := findPrograms(name, dirs)
		if len(targets) == 0 {
			continue
		}
		if c.Rule != "deny" {
			c.Real = realProgram(c.Rule, targets)
			c.Tree = neighborTree(c.Real)
		}
		if name == "git" {
			targets = append(targets, gitPrograms(targets)...)
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

// findPrograms returns the resolved programs called name, in the order of dirs.
func findPrograms(name string, dirs []string) []string {
	var programs []string
	for _, d := range dirs {
		if p := resolveProgram(filepath.Join(d, name)); p != "" && !slices.Contains(programs, p) {
			programs = append(programs, p)
		}
	}
	return programs
}

// resolveProgram follows path to an executable regular file, or returns "".
func resolveProgram(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return ""
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return resolved
}

// gitPrograms returns the programs in git's exec-paths that are git: its own name,
// and every hard link to a known target (git-checkout and the like).
func gitPrograms(targets []string) []string {
	dirs := []string{"/usr/lib/git-core", "/usr/libexec/git-core", "/usr/local/libexec/git-core"}
	var known []os.FileInfo
	for _, t := range targets {
		prefix := filepath.Dir(filepath.Dir(t))
		dirs = append(dirs, filepath.Join(prefix, "lib/git-core"), filepath.Join(prefix, "libexec/git-core"))
		if info, err := os.Stat(t); err == nil {
			known = append(known, info)
		}
	}
	slices.Sort(dirs)
	var programs []string
	for _, d := range slices.Compact(dirs) {
		own := resolveProgram(filepath.Join(d, "git"))
		if own == "" {
			continue
		}
		programs = append(programs, own)
		if info, err := os.Stat(own); err == nil {
			known = append(known, info)
		}
		programs = append(programs, hardLinks(d, known)...)
	}
	return programs
}

// hardLinks returns the entries of dir that are one of the known files.
func hardLinks(dir string, known []os.FileInfo) []string {
	// A file with one link has no other name; most installations link symbolically.
	if !slices.ContainsFunc(known, func(i os.FileInfo) bool { return linkCount(i) > 1 }) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var links []string
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if slices.ContainsFunc(known, func(k os.FileInfo) bool { return os.SameFile(k, info) }) {
			if p := resolveProgram(filepath.Join(dir, e.Name())); p != "" {
				links = append(links, p)
			}
		}
	}
	return links
}

// realProgram chooses the program behind a wrapper: the first, as PATH would. Behind
// a preset it is the first that is no script: a script called git runs another git,
// which is wrapped too and would run the script again.
func realProgram(rule string, targets []string) string {
	if rule == "preset" {
		for _, t := range targets {
			if !isScript(t) {
				return t
			}
		}
	}
	return targets[0]
}
