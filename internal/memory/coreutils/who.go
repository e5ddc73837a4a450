package coreutils

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func whoCommand() description {
	return description{
		Name: "who", Usage: "[OPTION]... [ FILE | ARG1 ARG2 ]", Summary: "print who is logged in, which is nobody: nobody can",
		Help: "  -H, --heading  a head\n  -q, --count    the number of users\n  -a -b -d -l -m -p -r -s -t -T -u -w  accepted", Run: runWho,
	}
}

func usersCommand() description {
	return description{
		Name: "users", Usage: "[OPTION]... [FILE]", Summary: "print the names of who is logged in, which is nobody: nobody can", Run: runUsers,
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
	o := newOptions(p, whoCommand, whoOptions)
	heading, count := false, false
	for o.Next() {
		heading = heading || o.ID == 'H'
		count = count || o.ID == 'q'
	}
	if o.Ended() {
		return o.Status
	}
	if args := o.Args(); len(args) > 2 {
		return usageError(p, whoCommand, 1, "extra operand %s", quoteLocaleName(args[2]))
	}
	switch {
	case count:
		return printLine(p, "\n# users=0")
	case heading && bytesLocale(p): // Times are shorter there.
		return printLine(p, "NAME     LINE         TIME         COMMENT")
	case heading:
		return printLine(p, "NAME     LINE         TIME             COMMENT")
	}
	return 0
}

func runUsers(p *shell.Proc) int {
	o := newOptions(p, usersCommand, nil)
	for o.Next() {
		continue
	}
	if o.Ended() {
		return o.Status
	}
	if args := o.Args(); len(args) > 1 {
		return usageError(p, usersCommand, 1, "extra operand %s", quoteLocaleName(args[1]))
	}
	return 0
}
