package shell

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Command is a program that scripts can call: one of coreutils, or an extension (see Shell.Register).
// In the machine it appears as a file in /usr/bin.
//
// An extension sees only its Proc: the file system (FS), the working directory (Dir),
// the environment (Environ), and the base of relative paths (Abs).
type Command struct {
	Name    string   // the name that calls it; no slash
	Aliases []string // other names for the same program
	Usage   string   // operands as in "[OPTION]... [FILE]..."; without the name
	Summary string   // one line, lower case, no full stop
	Help    string   // the body of --help below usage and summary; may be empty

	// Replace says that Name and Aliases may be taken from others: builtins of the shell and
	// programs. Run reaches the replaced command by Proc.Original. Without it a name that is taken is
	// an error of Register.
	Replace bool

	// Run does the work and returns the exit status, of which the low 8 bits count.
	// It is called from several goroutines at once, each with its own Proc. It ends
	// when p.Context ends. What it leaves open the shell closes. When it panics, its status
	// is 70 and the shell goes on.
	Run func(p *Proc) int

	registered bool              // by Register: --help is answered for it
	before     map[string]former // by name: the commands that it has replaced
}

// former is the previous meaning of a name.
type former struct {
	program *Command
	builtin *Command // that stood in a builtin's place
}

// HelpText returns the output of --help of a command that is called by name.
func (c *Command) HelpText(name string) string {
	var b strings.Builder
	for i, usage := range strings.Split(c.Usage, "\n") { // bounded: by the usage of a builtin
		if i == 0 {
			b.WriteString("Usage: ")
		} else {
			b.WriteString("  or:  ")
		}
		b.WriteString(strings.TrimRight(name+" "+usage, " ") + "\n")
	}
	if c.Summary != "" {
		b.WriteString(strings.ToUpper(c.Summary[:1]) + c.Summary[1:] + ".\n")
	}
	if c.Help != "" {
		b.WriteString("\n" + strings.TrimRight(c.Help, "\n") + "\n")
	}
	return b.String()
}

// programs are the commands of a machine. A table is never changed, only exchanged as a whole, because jobs may read it at any
// time.
type programs struct {
	byName   map[string]*Command
	builtins map[string]*Command // those that replace builtins
}

// Programs are commands that many machines have, indexed once.
type Programs struct{ table *programs }

// NewPrograms returns a set of commands, the shell's own among them; a later one takes the name of an
// earlier one. It is safe for concurrent use.
func NewPrograms(commands []Command) *Programs {
	return &Programs{newPrograms(append(shellPrograms(), commands...))}
}

// Commands returns each command once, sorted by name.
func (p *Programs) Commands() []Command { return p.table.list() }

// with returns the set with some more, which take the names of those that are there; the names of
// builtins only when they say so.
func (t *programs) with(commands []Command, builtins map[string]*builtin) *programs {
	all := t.clone()
	for i := range commands {
		c := commands[i]
		c.before = map[string]former{}
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			all.put(name, &c, c.Replace && builtins[name] != nil)
		}
	}
	return all
}

// clone returns a set that can be changed.
func (t *programs) clone() *programs {
	all := &programs{byName: make(map[string]*Command, len(t.byName)+1), builtins: make(map[string]*Command, len(t.builtins)+1)}
	maps.Copy(all.byName, t.byName)
	maps.Copy(all.builtins, t.builtins)
	return all
}

// put gives a command a name, and with it the place of the builtin.
func (t *programs) put(name string, c *Command, builtin bool) {
	if old := (former{t.byName[name], t.builtins[name]}); old != (former{}) {
		c.before[name] = old
	}
	t.byName[name] = c
	if builtin {
		t.builtins[name] = c
	}
}

func (t *programs) list() []Command {
	list := make([]Command, 0, len(t.byName))
	for name, c := range t.byName {
		if name == c.Name {
			list = append(list, *c)
		}
	}
	slices.SortFunc(list, func(a, b Command) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// newPrograms indexes commands; a later one takes the name of an earlier one.
func newPrograms(commands []Command) *programs {
	t := &programs{byName: make(map[string]*Command, len(commands))}
	for i := range commands {
		c := &commands[i]
		t.byName[c.Name] = c
		for _, a := range c.Aliases {
			t.byName[a] = c
		}
	}
	return t
}

// command returns the program that is called by the name, nil for none.
func (m *machine) command(name string) *Command { return m.programs.Load().byName[name] }

// replacement returns the program that replaces the builtin, nil for none.
func (m *machine) replacement(builtin string) *Command { return m.programs.Load().builtins[builtin] }

// Register adds extensions to the machine, all or none, for the scripts that run from now on. It waits
// for a Run to end. Shells that were forked before do not get them, those forked later do.
//
// A name is an error that cannot be typed as one word, that is a word of the language, or that another
// command has, which the error names too; Command.Replace allows the latter. "NAME --help" is answered from
// Usage, Summary and Help when any of them is there, and Run is not called.
func (s *Shell) Register(commands ...Command) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := registry{builtins: s.m.lib.builtins, given: map[string]*Command{}, next: s.m.programs.Load().clone()}
	for _, c := range commands {
		c.registered = true
		if err := r.add(&c); err != nil {
			return err
		}
	}
	s.m.programs.Store(r.next)
	return nil
}

// Commands returns the programs of the machine, sorted by name. Builtins of the shell are not among them.
func (s *Shell) Commands() []Command {
	return s.m.programs.Load().list()
}

// Builtins returns the names of the shell's builtins, sorted.
func (s *Shell) Builtins() []string {
	return slices.Sorted(maps.Keys(s.m.lib.builtins))
}

// registry is a table of programs to be.
type registry struct {
	next     *programs
	builtins map[string]*builtin
	given    map[string]*Command // by name: those of this call
}

func (r *registry) add(c *Command) error {
	if c.Run == nil {
		return fmt.Errorf("the command %q has no Run function", c.Name)
	}
	c.Aliases = slices.Clone(c.Aliases)
	c.before = map[string]former{}
	for _, name := range append([]string{c.Name}, c.Aliases...) {
		if err := r.checkName(c, name); err != nil {
			return err
		}
		r.given[name] = c
		r.next.put(name, c, r.builtins[name] != nil)
	}
	return nil
}

// checkName returns an error if the command cannot be registered under the name.
func (r *registry) checkName(c *Command, name string) error {
	whose := fmt.Sprintf("the command %q", c.Name)
	if name != c.Name {
		whose = fmt.Sprintf("the alias %q of %s", name, whose)
	}
	if why := badName(name); why != "" {
		return fmt.Errorf("%s: a name %s", whose, why)
	}
	if keywords[name] {
		return fmt.Errorf("%s: %s is a word of the shell's language", whose, name)
	}
	if other := r.given[name]; other != nil {
		return fmt.Errorf("%s%s: the name already belongs to %s", whose, summaryOf(c), describeCommand(other))
	}
	if c.Replace {
		return nil
	}
	if r.builtins[name] != nil && r.next.builtins[name] == nil {
		return fmt.Errorf("%s%s: the name belongs to a builtin of the shell; only a command with Replace may take it", whose, summaryOf(c))
	}
	if other := r.next.byName[name]; other != nil {
		return fmt.Errorf("%s%s: the name belongs to %s; only a command with Replace may take it", whose, summaryOf(c), describeCommand(other))
	}
	return nil
}

// describeCommand names a command for an error.
func describeCommand(c *Command) string { return fmt.Sprintf("the command %q", c.Name) + summaryOf(c) }

func summaryOf(c *Command) string {
	if c.Summary == "" {
		return ""
	}
	return " (" + c.Summary + ")"
}

// maxName is the most bytes of a file's name.
const maxName = 255

// badName returns why a command cannot have the name; "" when it can.
func badName(name string) string {
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	switch {
	case name == "":
		return "cannot be empty"
	case len(name) > maxName:
		return fmt.Sprintf("has at most %d bytes", maxName)
	case !utf8.ValidString(name):
		return "is UTF-8"
	case strings.ContainsRune(name, '/'):
		return "has no slash"
	case strings.ContainsFunc(name, odd):
		return "has no blanks and control characters"
	case strings.HasPrefix(name, "-"):
		return "does not begin with a dash"
	case name == "[" || name == ":" || name == ".":
		return ""
	case name == "..":
		return "is not that of a directory"
	case strings.ContainsAny(name, "'\"\\|&;()<>!{}*[?]^$`#~=%"):
		return "has no characters that mean something to the shell"
	}
	return ""
}
