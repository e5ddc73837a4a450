package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
)

// Explanation is the decision of a plan about one path, command, host or variable, and its reason. It is derived
// from the plan alone, so a driver enforces the same.
type Explanation struct {
	Kind    string  `json:"kind"`             // "path", "command", "host", "env"
	Name    string  `json:"name"`             // what was asked for; a path is resolved
	Verdict string  `json:"verdict"`          // path: "rw", "ro", "exclude", "private", "guarded", "masked", "absent"; else "allowed", "denied", "script", "preset", "absent", "masked"
	Reason  string  `json:"reason,omitempty"` // the verdict in words
	Rule    string  `json:"rule,omitempty"`   // the deciding rule as it was written
	Preset  string  `json:"preset,omitempty"` // the preset that it comes from
	Layer   string  `json:"layer,omitempty"`  // the layer that set it
	Source  string  `json:"source,omitempty"` // file and line, flag, or "built in"
	Losing  []Loser `json:"losing,omitempty"` // other rules about it, by precedence
	Change  string  `json:"change,omitempty"` // the flag that changes the verdict; empty: none
}

// Loser is a rule that covers the same path and does not decide.
type Loser struct {
	Rule    string `json:"rule"`
	Access  string `json:"access"`
	Preset  string `json:"preset,omitempty"`
	Layer   string `json:"layer"`
	Source  string `json:"source"`
	Missing bool   `json:"missing,omitempty"` // its path does not exist yet
}

// Verdicts that are not the name of an [Access].
const (
	VerdictGuarded = "guarded" // does not exist and must not be created
	VerdictAllowed = "allowed"
	VerdictDenied  = "denied"
	VerdictAbsent  = "absent" // a variable that is not set on the host; a path that a copy does not have
	VerdictMasked  = "masked" // a placeholder replaces a secret
)

const reasonNested = "may not be created: the host obeys it"

var pathReasons = map[Access]string{
	Exclude:   "hidden: a directory is empty, a file cannot be read",
	ReadOnly:  "as on the host, read-only",
	ReadWrite: "as on the host, writable",
	Private:   "the sandbox's own, not the host's",
}

// ExplainPath explains what may be done with a path on the host. It may start
// with ~ or be relative to the plan's start directory; symbolic links are followed.
func (p *Plan) ExplainPath(path string) Explanation {
	full := path
	if abs, err := hostpath.Anchor(path, p.Home, p.Dir); err == nil {
		full = abs
	}
	at, err := hostpath.Locate(full)
	if err != nil {
		at = hostpath.Place{Path: filepath.Clean(full)}
	}
	e := Explanation{Kind: "path", Name: at.Path}
	if root := hostpath.ReservedRoot(at.Path); root != "" {
		e.Verdict, e.Reason, e.Source = Private.String(), "the sandbox brings its own "+root, "built in"
		return e
	}
	access, rule := p.Access(at.Path)
	e.Verdict, e.Reason = access.String(), pathReasons[access]
	if g := p.guardOf(at); g != nil {
		rule = &p.Rules[g.Rule]
		e.Verdict, e.Reason = VerdictGuarded, "does not exist, or is a symbolic link, and may not be created"
	} else if decider := p.deciding(at.Path); decider != nil {
		rule = decider
	}
	if forbidden := p.Nested.Forbids(at.Path); e.Verdict == ReadWrite.String() && !at.Exists && forbidden != "" {
		e.Verdict, e.Reason = VerdictGuarded, reasonNested
		e.Rule, e.Layer, e.Source = filepath.Base(forbidden)+" in any directory", "protected", "built in"
		e.Losing, e.Change = p.losing(at.Path, nil), p.pathChange(at.Path, e.Verdict)
		return e
	}
	if hides := p.hidingOnceThere(at); hides != nil && e.Verdict != VerdictGuarded {
		rule, e.Reason = hides, "does not exist; once it does, new sandboxes hide it"
	}
	if rule == nil {
		e.Rule, e.Layer, e.Source = "/", LayerDefaults, "built in"
	} else {
		e.Rule, e.Preset, e.Layer, e.Source = rule.Pattern, rule.Preset, rule.Layer, rule.Source
	}
	e.Losing = p.losing(at.Path, rule)
	p.explainRedacted(&e)
	if hidden := rule != nil && rule.Layer == "protected" && rule.Access == Exclude; !hidden {
		if e.Verdict != VerdictMasked {
			e.Change = p.pathChange(at.Path, e.Verdict)
		}
		return e
	}
	if e.Verdict == Exclude.String() {
		e.Reason = "hidden, and nothing opens it: it holds a secret"
	}
	for i := range p.Secrets {
		if s := &p.Secrets[i]; s.File == at.Path && s.Missing == "" {
			e.Verdict, e.Reason = VerdictMasked, "as on the host, read-only, with a placeholder in the place of the secret "+jsonc.OneLine(s.Name)
		}
	}
	return e
}

// hidingOnceThere returns the rule that will hide a path, or a directory above it, that does not exist; nil if none will.
func (p *Plan) hidingOnceThere(at hostpath.Place) (hides *Rule) {
	if at.Exists {
		return nil
	}
	for i := range p.Rules {
		r := &p.Rules[i]
		if r.Missing && r.Access == Exclude && hostpath.IsWithin(at.Path, r.Path) && (hides == nil || len(r.Path) > len(hides.Path)) {
			hides = r
		}
	}
	return hides
}

// guardOf returns the guard that covers a path: its own or that of a missing
// directory on the way.
func (p *Plan) guardOf(at hostpath.Place) *Guard {
	if at.Exists {
		return nil
	}
	for path := at.Path; path != "/"; path = filepath.Dir(path) {
		if _, err := os.Lstat(path); err == nil {
			return nil
		}
		dir, name := filepath.Split(path)
		for i := range p.Guards {
			if g := &p.Guards[i]; g.Dir == filepath.Clean(dir) && g.isForbidden(name) {
				return g
			}
		}
	}
	return nil
}

// isForbidden reports whether g forbids an entry called name.
func (g *Guard) isForbidden(name string) bool {
	if g.Name != "*" {
		return strings.EqualFold(g.Name, name)
	}
	return !slices.ContainsFunc(g.Except, func(e string) bool {
		prefix, rest := strings.CutSuffix(e, "*")
		return e == name || rest && strings.HasPrefix(name, prefix)
	})
}

// deciding returns the deepest rule that decides about path. The rule may change nothing and so have no mount.
func (p *Plan) deciding(path string) *Rule {
	for i := range p.Rules {
		if r := &p.Rules[i]; r.Applied && !r.Missing && hostpath.IsWithin(path, r.Path) {
			return r
		}
	}
	return nil
}

func (p *Plan) losing(path string, winner *Rule) []Loser {
	var out []Loser
	for i := range p.Rules {
		r := &p.Rules[i]
		if r == winner || !hostpath.IsWithin(path, r.Path) {
			continue
		}
		out = append(out, Loser{
			Rule: r.Pattern, Access: r.Access.String(), Preset: r.Preset, Layer: r.Layer, Source: r.Source, Missing: r.Missing,
		})
	}
	return out
}

// pathChange returns the flag that changes a verdict; "" when none does.
func (p *Plan) pathChange(path, verdict string) string {
	flag := "--rw "
	switch verdict {
	case ReadWrite.String():
		flag = "--ro "
	case Exclude.String():
		flag = "--ro "
	case VerdictGuarded, ReadOnly.String():
		for i := range p.Rules {
			// Only these rules cannot be lifted.
			if r := &p.Rules[i]; r.Layer == "protected" && filepath.Base(r.Pattern) == "agent-sandbox" && hostpath.IsWithin(path, r.Path) {
				return ""
			}
		}
	}
	if path == "/" {
		return ""
	}
	return flag + shellword.Quote(path)
}

// ExplainCommand explains what happens when a command of this name is run.
func (p *Plan) ExplainCommand(name string) Explanation {
	e := Explanation{Kind: "command", Name: name, Verdict: VerdictAllowed, Reason: "no rule names it"}
	for _, c := range p.Commands {
		if c.Name != name {
			continue
		}
		e.Verdict, e.Rule, e.Source = c.Rule, c.Rule, c.Source
		e.Layer = p.layerOf(c.Source)
		switch c.Rule {
		case "deny":
			e.Verdict, e.Reason = VerdictDenied, "a wrapper refuses it"
		case "preset":
			e.Rule, e.Reason = "@"+name, "the built-in wrapper checks its arguments, then runs "+c.Real
		case "script":
			e.Reason = "a script runs in its place and may run " + c.Real
		}
		e.Change = "--cmd " + shellword.Quote(name+"=true")
		return e
	}
	e.Change = "--cmd " + shellword.Quote(name+"=false")
	return e
}

// layerOf finds the layer by a source of one of its rules.
func (p *Plan) layerOf(source string) string {
	switch {
	case source == "built in":
		return LayerDefaults
	case strings.HasPrefix(source, "--"):
		return LayerFlags
	}
	for _, l := range p.Layers {
		if l.File != "" && (source == l.File || strings.HasPrefix(source, l.File+":")) {
			return l.Name
		}
	}
	return ""
}

func (p *Plan) explainSocket(path string) Explanation {
	e := Explanation{Kind: "host", Verdict: VerdictDenied, Reason: "no rule lists this socket of the host"}
	if at, err := hostpath.Locate(path); err == nil {
		path = at.Path
	}
	e.Name, e.Change = "unix:"+path, "--socket "+shellword.Quote(path)
	if filepath.Base(path) == "docker.sock" {
		e.Change = "--docker"
	}
	if slices.Contains(p.Sockets, path) {
		e.Verdict, e.Reason, e.Rule, e.Change = VerdictAllowed, "it is listed", "filesystem.sockets", ""
		if p.Docker && filepath.Base(path) == "docker.sock" {
			e.Rule, e.Change = "docker: true", "--docker=false"
		}
	}
	return e
}

// ExplainEnv explains whether a command sees a variable. It contains no value.
func (p *Plan) ExplainEnv(name string) Explanation {
	e := Explanation{Kind: "env", Name: name, Verdict: VerdictAbsent, Reason: "not set", Change: "--env " + shellword.Quote(name+"=VALUE")}
	for i := range p.Secrets {
		if s := &p.Secrets[i]; s.Env == name && s.Missing == "" {
			e.Verdict, e.Reason, e.Change = VerdictMasked, "a placeholder stands in the place of the secret "+jsonc.OneLine(s.Name), ""
			e.Rule, e.Layer, e.Source = "secrets."+s.Name, s.Layer, s.Source
			return e
		}
	}
	for _, d := range p.Dropped {
		if d.Name == name {
			e.Verdict, e.Reason, e.Change = VerdictDenied, d.Why, "--env "+shellword.Quote(name)
			if d.Why == whyPlaceholder || strings.HasPrefix(d.Why, whySecretHeld) {
				e.Change = ""
			}
		}
	}
	for _, kv := range p.Env {
		if n, _, _ := strings.Cut(kv, "="); n == name {
			e.Verdict, e.Reason, e.Change = VerdictAllowed, "passes", "--env "+shellword.Quote("!"+name)
		}
	}
	return e
}
