package files

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func readlinkCommand() program.Description {
	return program.Description{
		Name: "readlink", Usage: "[OPTION]... FILE...",
		Summary: "print what links say, or where paths lead",
		Help: `  -f, --canonicalize           follow all links; all but the last element must exist
  -e, --canonicalize-existing  the same; all elements must exist
  -m, --canonicalize-missing   the same; none need exist
  -n, --no-newline             no newline behind the only name
  -q, -s, --quiet, --silent    say nothing of what fails (so it is without options)
  -v, --verbose                say what fails
  -z, --zero                   end lines with NUL`,
		Run: runReadlink,
	}
}

var readlinkOptions = []getopt.Option{
	{Short: 'f', Long: "canonicalize"},
	{Short: 'e', Long: "canonicalize-existing"},
	{Short: 'm', Long: "canonicalize-missing"},
	{Short: 'n', Long: "no-newline"},
	{Short: 'q', Long: "quiet"},
	{Short: 's', Long: "silent"},
	{Short: 'v', Long: "verbose"},
	{Short: 'z', Long: "zero"},
}

func runReadlink(p *shell.Proc) int {
	o := program.NewOptions(p, readlinkCommand, readlinkOptions)
	resolve, need, eol := false, allButLast, "\n"
	_, verbose := p.LookupEnv("POSIXLY_CORRECT")
	noNewline := false
	for o.Next() {
		switch o.ID {
		case 'f', 'e', 'm':
			resolve, need = true, map[int]existence{'f': allButLast, 'e': allExist, 'm': noneExist}[o.ID]
		case 'n':
			noNewline = true
		case 'q', 's':
			verbose = false
		case 'v':
			verbose = true
		case 'z':
			eol = "\x00"
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if !program.CheckOperands(p, readlinkCommand, o.Args(), 1, -1) {
		return 1
	}
	if noNewline && len(o.Args()) > 1 {
		p.Warn("ignoring --no-newline with multiple arguments")
		noNewline = false
	}
	if noNewline {
		eol = ""
	}
	out, status := program.NewOutput(p), 0
	for _, name := range o.Args() {
		var text string
		var err error
		if resolve {
			text, err = canonical(p, name, need, true)
		} else {
			text, err = p.Readlink(name)
		}
		if err != nil {
			status = 1
			if verbose {
				p.Error(name, err)
			}
			continue
		}
		_, _ = out.WriteString(text + eol) // The error stays in out.
	}
	return out.Close(status)
}
