package shell

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

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

// registry is a table of programs to be.
type registry struct {
	next     *programs
	builtins map[string]*builtin
	given    map[string]*Command // by name: those of this call
}

func (r *registry) add(c *Command) error {
	if c.Run == nil {
		return fmt.Errorf("the command %q has nothing to run", c.Name)
	}
	c.Aliases = slices.Clone(c.Aliases)
	c.before = map[string]former{}
	for _, name := range append([]string{c.Name}, c.Aliases...) {
		if err := r.mayTake(c, name); err != nil {
			return err
		}
		r.given[name] = c
		r.next.put(name, c, r.builtins[name] != nil)
	}
	return nil
}

// mayTake tells what stands against it that the command is called by the name.
func (r *registry) mayTake(c *Command, name string) error {
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
		return fmt.Errorf("%s%s: the name is that of %s too", whose, summaryOf(c), described(other))
	}
	if c.Replace {
		return nil
	}
	if r.builtins[name] != nil && r.next.builtins[name] == nil {
		return fmt.Errorf("%s%s: the name is that of a builtin of the shell, which only a replacement may take", whose, summaryOf(c))
	}
	if other := r.next.byName[name]; other != nil {
		return fmt.Errorf("%s%s: the name is that of %s, which only a replacement may take", whose, summaryOf(c), described(other))
	}
	return nil
}

// described names a command for an error.
func described(c *Command) string { return fmt.Sprintf("the command %q", c.Name) + summaryOf(c) }

func summaryOf(c *Command) string {
	if c.Summary == "" {
		return ""
	}
	return " (" + c.Summary + ")"
}

// maxName is the most bytes of a file's name.
const maxName = 255

// badName says why nobody could call a command by the name; "" when somebody could.
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
