package files

import (
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func pathchkCommand() program.Description {
	return program.Description{
		Name: "pathchk", Usage: "[OPTION]... NAME...", Summary: "tell which NAMEs cannot be names of files, here or elsewhere",
		Help: `  -p               for most systems that are POSIX
  -P               no empty names, and none that begin with -
      --portability  for all of them: -p and -P`,
		Run: runPathchk,
	}
}

var pathchkOptions = []getopt.Option{{Short: 'p'}, {Short: 'P'}, {Long: "portability", ID: getopt.First}}

// nameRules are the rules that names must obey.
type nameRules struct{ basic, extra bool }

// Limits of names: those of POSIX for all systems, and those here.
const (
	portableName, portablePath = 14, 256
	nameLimit, pathLimit       = 255, 4096
	portableChars              = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/"
)

func runPathchk(p *shell.Proc) int {
	o := program.NewOptions(p, pathchkCommand, pathchkOptions)
	var r nameRules
	for o.Next() {
		r.basic = r.basic || o.ID != 'P'
		r.extra = r.extra || o.ID != 'p'
	}
	if o.HasEnded() {
		return o.Status
	}
	if !program.CheckOperands(p, pathchkCommand, o.Args(), 1, -1) {
		return 1
	}
	status := 0
	for _, name := range o.Args() {
		if !r.check(p, name) {
			status = 1
		}
	}
	return status
}

// check prints the error of a name.
func (r nameRules) check(p *shell.Proc, name string) bool {
	if r.extra {
		for part := range strings.SplitSeq(name, "/") {
			if strings.HasPrefix(part, "-") {
				p.Warn("leading '-' in a component of file name %s", shell.Quote(name))
				return false
			}
		}
	}
	if (r.basic || r.extra) && name == "" {
		p.Warn("empty file name")
		return false
	}
	if r.basic {
		if i := strings.IndexFunc(name, func(c rune) bool { return !strings.ContainsRune(portableChars, c) }); i >= 0 {
			p.Warn("nonportable character %s in file name %s", quoting.Name(name[i:i+1]), shell.Quote(name))
			return false
		}
	} else if _, err := p.Lstat(name); err != nil && (shell.Errno(err) != syscall.ENOENT || name == "") {
		p.Warn("%s: %s", shell.QuoteIfNeeded(name), shell.Strerror(err))
		return false
	}
	longest, longestPath := nameLimit, pathLimit
	if r.basic {
		longest, longestPath = portableName, portablePath
	}
	if len(name) >= longestPath {
		p.Warn("limit %d exceeded by length %d of file name %s", longestPath-1, len(name), shell.Quote(name))
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > longest {
			p.Warn("limit %d exceeded by length %d of file name component %s", longest, len(part), shell.Quote(part))
			return false
		}
	}
	return true
}
