package system

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func whoCommand() program.Description {
	return program.Description{
		Name: "who", Usage: "[OPTION]... [ FILE | ARG1 ARG2 ]", Summary: "print the users that are logged in; there are none",
		Help: "  -H, --heading  a head\n  -q, --count    the number of users\n  -a -b -d -l -m -p -r -s -t -T -u -w  accepted", Run: runWho,
	}
}

func usersCommand() program.Description {
	return program.Description{
		Name: "users", Usage: "[OPTION]... [FILE]", Summary: "print the names of the users that are logged in; there are none", Run: runUsers,
	}
}

var whoOptions = []getopt.Option{
	{Short: 'a', Long: "all"},
	{Short: 'b', Long: "boot"},
	{Short: 'd', Long: "dead"},
	{Short: 'H', Long: "heading"},
	{Short: 'l', Long: "login"},
	{Long: "lookup", ID: getopt.First},
	{Short: 'm'},
	{Short: 'p', Long: "process"},
	{Short: 'q', Long: "count"},
	{Short: 'r', Long: "runlevel"},
	{Short: 's', Long: "short"},
	{Short: 't', Long: "time"},
	{Short: 'T', Long: "mesg"},
	{Short: 'w'},
	{Short: 'w', Long: "message"},
	{Short: 'w', Long: "writable"},
	{Short: 'u', Long: "users"},
}

func runWho(p *shell.Proc) int {
	o := program.NewOptions(p, whoCommand, whoOptions)
	heading, count := false, false
	for o.Next() {
		heading = heading || o.ID == 'H'
		count = count || o.ID == 'q'
	}
	if o.HasEnded() {
		return o.Status
	}
	if args := o.Args(); len(args) > 2 {
		return program.UsageError(p, whoCommand, 1, "extra operand %s", quoting.Name(args[2]))
	}
	switch {
	case count:
		return program.PrintLine(p, "\n# users=0")
	case heading && program.IsByteLocale(p): // Times are shorter there.
		return program.PrintLine(p, "NAME     LINE         TIME         COMMENT")
	case heading:
		return program.PrintLine(p, "NAME     LINE         TIME             COMMENT")
	}
	return 0
}

func runUsers(p *shell.Proc) int {
	o := program.NewOptions(p, usersCommand, nil)
	for o.Next() {
		continue
	}
	if o.HasEnded() {
		return o.Status
	}
	if args := o.Args(); len(args) > 1 {
		return program.UsageError(p, usersCommand, 1, "extra operand %s", quoting.Name(args[1]))
	}
	return 0
}
