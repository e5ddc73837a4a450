package policies

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// planTable prints a plan for people. Everything in it is escaped: paths and
// names come from the tree and the environment.
type planTable struct {
	out   *console.Output
	plan  *policy.Plan
	home  string // shown as ~
	place place
}

func (t *planTable) print() {
	t.general()
	t.network()
	t.secrets()
	t.paths()
	t.names()
	t.section("SOCKETS that may be connected to", t.plan.Sockets)
	t.commands()
	t.environment()
}

func (t *planTable) general() {
	p := t.plan
	var layers []string
	for _, l := range p.Layers {
		text := l.Name
		if l.File != "" {
			text += " " + t.short(l.File)
		}
		if !l.Trusted {
			text += " (not trusted: only tightens)"
		}
		layers = append(layers, text)
	}
	rows := [][]string{
		{"workspace", t.short(p.Workspace)},
		{"home", p.Home},
		{"network", networkText(p.Network)},
		{"docker", formatSwitch(p.Docker)},
		{"userns", formatSwitch(p.Userns)},
		{"debuggers", formatSwitch(p.Debug)},
		{"tmp", tmpMode(p)},
		{"ssh agent", formatAgent(p.SSHAgent)},
		{"gpg agent", formatAgent(p.GPGAgent.Socket)},
		{"layers", strings.Join(layers, ", ")},
	}
	if files := t.place.files(); files != "" {
		rows = append(rows, []string{"files", files})
	}
	for _, name := range host.LimitNames {
		if v := host.LimitValue(p.Limits.Limits, name); v != "" {
			source := "where this host can"
			if by := p.Limits.Required[name]; by != "" {
				source = "required by " + t.short(by)
			}
			rows = append(rows, []string{"limit " + name, v + " (" + source + ")"})
		}
	}
	for _, line := range host.RequestLines(p.Requests) {
		name, value, _ := strings.Cut(line, " = ")
		rows = append(rows, []string{strings.Replace(name, ":", "", 1), value + " (reserved in the cluster)"})
	}
	t.table(rows)
}

// formatAgent says which agent commands can use.
func formatAgent(socket string) string {
	if socket == "" {
		return formatSwitch(false)
	}
	return "identities and signatures of " + socket
}

// networkText returns one line; the lists have their own section.
func networkText(n sandbox.Network) string {
	switch {
	case n.Mode != sandbox.NetworkAllow:
		return string(n.Mode)
	case len(n.Allow) == 0:
		return "an allow-list with nothing in it"
	}
	return "an allow-list, see below"
}

// network prints the lists.
func (t *planTable) network() {
	n := t.plan.Network
	if n.Mode != sandbox.NetworkAllow {
		return
	}
	names := map[string]string{"private_hosts": "private host", "ca": "CA"}
	rows := [][]string{{"NETWORK", "RULE", "SOURCE"}}
	for _, r := range t.plan.NetworkRules {
		rows = append(rows, []string{cmp.Or(names[r.List], r.List), t.short(r.Rule), t.short(r.Source)})
	}
	t.heading("WHAT CAN BE REACHED")
	t.table(rows)
}

// secrets prints where values come from and go to, never a value.
func (t *planTable) secrets() {
	if len(t.plan.Secrets) == 0 {
		return
	}
	rows := [][]string{{"SECRET", "FROM", "INSIDE", "HOSTS", "SOURCE"}}
	for _, s := range t.plan.Secrets {
		var inside []string
		switch {
		case s.Missing != "":
			inside = []string{"left out: " + s.Missing}
		default:
			inside = slices.DeleteFunc([]string{s.Env, t.short(s.File)}, func(s string) bool { return s == "" })
		}
		from := secretSource(s)
		if kind, path, ok := strings.Cut(from, " "); ok {
			from = kind + " " + t.short(path)
		}
		rows = append(rows, []string{s.Name, from, strings.Join(inside, ", "), strings.Join(s.Hosts, ", "), t.short(s.Source)})
	}
	t.heading("SECRETS that stay outside")
	t.table(rows)
}

// paths prints the paths that differ from their surroundings.
func (t *planTable) paths() {
	rows := [][]string{{"ACCESS", "PATH", "RULE", "SOURCE"}}
	if t.place == onHost {
		rows = append(rows, []string{"ro", "/", "", "built in"})
	}
	for _, m := range t.plan.Mounts {
		r := t.plan.Rules[m.Rule]
		access := m.Access.String()
		if m.Pin {
			access += ", cannot be renamed"
		}
		if slices.ContainsFunc(t.plan.Redacted, func(f policy.Redacted) bool { return f.Path == m.Path && f.Fault == "" }) {
			access = "ro, without credentials"
		}
		rows = append(rows, []string{access, t.short(m.Path), ruleName(r), t.short(r.Source)})
	}
	t.heading("PATHS")
	t.table(rows)
	t.unmatched()
}

// unmatched prints the patterns of people that stand for no path now.
func (t *planTable) unmatched() {
	rows := [][]string{{"ACCESS", "PATTERN", "SOURCE"}}
	for _, r := range t.plan.Rules {
		if r.IsUnmatched() {
			rows = append(rows, []string{r.Access.String(), t.short(r.Pattern), t.short(r.Source)})
		}
	}
	if len(rows) > 1 {
		t.heading("PATTERNS that match nothing")
		t.table(rows)
	}
}

// ruleName returns the preset, or the group, by which users know a rule.
func ruleName(r policy.Rule) string {
	switch {
	case r.Preset != "":
		return r.Preset
	case r.Layer == "protected":
		return "protected"
	}
	return r.Pattern
}

// names prints the names that cannot be created, one paragraph per directory.
func (t *planTable) names() {
	if len(t.plan.Guards) == 0 {
		return
	}
	t.heading("NAMES that cannot be created")
	var dirs []string
	names := map[string][]string{}
	for _, g := range t.plan.Guards {
		if names[g.Dir] == nil {
			dirs = append(dirs, g.Dir)
		}
		name := g.Name
		if len(g.Except) > 0 {
			name += " but " + strings.Join(g.Except, " ")
		}
		names[g.Dir] = append(names[g.Dir], name)
	}
	for _, dir := range dirs {
		fmt.Fprintf(t.out, "  %s\n", console.Escape(t.short(dir)))
		for _, line := range wrapWords(names[dir], 74) {
			fmt.Fprintf(t.out, "      %s\n", console.Escape(line))
		}
	}
	for _, dir := range t.plan.NoRepos {
		fmt.Fprintf(t.out, "  and no new git repository below %s\n", console.Escape(t.short(dir)))
	}
	for _, dir := range t.plan.Nested.Roots {
		fmt.Fprintf(t.out, "  and in any directory below %s: %s\n", console.Escape(t.short(dir)), strings.Join(t.plan.Nested.Names, " "))
	}
}

func (t *planTable) commands() {
	if len(t.plan.Commands) == 0 {
		return
	}
	rows := [][]string{{"COMMAND", "RULE", "OVER", "SOURCE"}}
	for _, c := range t.plan.Commands {
		over := strings.Join(c.Targets, " ")
		if over == "" {
			over = "(not installed)"
		}
		rows = append(rows, []string{c.Name, c.Rule, over, t.short(c.Source)})
	}
	t.heading("COMMANDS that are wrapped")
	t.table(rows)
}

func (t *planTable) environment() {
	var lines []string
	for _, d := range t.plan.Dropped {
		lines = append(lines, d.Name+": "+d.Why)
	}
	t.section(fmt.Sprintf("ENVIRONMENT: %d variables pass, and these do not", len(t.plan.Env)), lines)
}

func (t *planTable) heading(text string) { fmt.Fprintf(t.out, "\n%s\n", text) }

func (t *planTable) section(heading string, lines []string) {
	if len(lines) == 0 {
		return
	}
	t.heading(heading)
	for _, line := range lines {
		fmt.Fprintf(t.out, "  %s\n", console.Escape(t.short(line)))
	}
}

func (t *planTable) table(rows [][]string) {
	w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = console.Escape(row[i])
		}
		fmt.Fprintln(w, strings.TrimRight("  "+strings.Join(row, "\t"), "\t"))
	}
	_ = w.Flush() // the output remembers its error
}

// short abbreviates the home directory to ~.
func (t *planTable) short(path string) string {
	if rest, ok := strings.CutPrefix(path, t.home); ok && t.home != "" && t.home != "/" && (rest == "" || rest[0] == '/') {
		return filepath.Join("~", rest)
	}
	return path
}

func formatSwitch(on bool) string {
	if on {
		return "yes"
	}
	return "no"
}

// wrapWords breaks words into lines of at most width bytes where they fit.
func wrapWords(words []string, width int) []string {
	var lines []string
	for _, word := range words {
		last := len(lines) - 1
		if last >= 0 && len(lines[last])+1+len(word) <= width {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}
