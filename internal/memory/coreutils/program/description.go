package program

import (
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Description holds a program's name, its help and the implementation that it follows.
type Description struct {
	Name    string   // the name that calls it; no slash
	Aliases []string // other names for the same program
	Usage   string   // operands as in "[OPTION]... [FILE]..."; without the name, a line per form
	Summary string   // one line, lower case, no full stop
	Help    string   // the body of --help below usage and summary; may be empty

	// Origin is the package, with its version, whose behavior the program follows. --version names it,
	// and scripts read it there to tell GNU's programs from others. Empty, it is GNU coreutils 9.1.
	Origin string
	// TryHelp is the format of the line that follows the message about wrong usage; its argument is the
	// program's name. Empty, it is that of coreutils.
	TryHelp string
	// HelpOnError makes the whole help follow such a message instead.
	HelpOnError bool

	// Run does the work and returns the exit status; see shell.Command.
	Run func(p *shell.Proc) int
}

// command returns the program as the shell takes it.
func (d Description) command() shell.Command {
	return shell.Command{Name: d.Name, Aliases: d.Aliases, Usage: d.Usage, Summary: d.Summary, Help: d.Help, Run: d.Run}
}

// Commands returns the programs as the shell takes them, in the order of list.
func Commands(list ...func() Description) []shell.Command {
	commands := make([]shell.Command, len(list))
	for i, describe := range list {
		commands[i] = describe().command()
	}
	return commands
}

// HelpText returns what --help prints when the program is called by name.
func (d Description) HelpText(name string) string {
	c := d.command()
	return c.HelpText(name)
}

// VersionText returns what --version prints when the program is called by name.
func (d Description) VersionText(name string) string {
	origin := d.Origin
	if origin == "" {
		origin = "GNU coreutils 9.1"
	}
	version := origin[strings.LastIndexByte(origin, ' ')+1:]
	return fmt.Sprintf("%s (agent-sandbox, as %s) %s\n", name, origin, version)
}
