package coreutils

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// options reads a command's options. It answers --help and --version and reports wrong
// options in GNU's words; Ended and Status say how that went.
type options struct {
	*getopt.Parser
	// Status is the exit status when Ended.
	Status int
	// Wrong is the exit status after a wrong option; 1 unless the command sets it
	// before the first Next.
	Wrong int

	proc     *shell.Proc
	describe func() shell.Command
	ended    bool
}

// newOptions returns the options of p, whose table is options. With POSIXLY_CORRECT
// in the environment they end at the first operand.
func newOptions(p *shell.Proc, describe func() shell.Command, table []getopt.Option) *options {
	o := &options{Parser: getopt.New(p.Args, table), Wrong: 1, proc: p, describe: describe}
	if _, ok := p.LookupEnv("POSIXLY_CORRECT"); ok {
		o.Order = getopt.RequireOrder
	}
	return o
}

// Next goes to the next option that the command has to look at.
func (o *options) Next() bool {
	if o.ended {
		return false
	}
	if !o.Parser.Next() {
		if o.Err != nil {
			o.proc.Warn("%v", o.Err)
			o.fail()
		}
		return false
	}
	switch o.ID {
	case getopt.Help:
		o.answer(helpText(o.proc.Name(), o.describe()))
		return false
	case getopt.Version:
		o.answer(versionText(o.proc.Name(), o.describe().Name))
		return false
	}
	return true
}

// Ended tells that there is nothing left to do: help was printed, or an option is wrong.
func (o *options) Ended() bool { return o.ended }

// Reject ends the reading with a message, and what to type for help.
func (o *options) Reject(format string, args ...any) {
	o.proc.Warn(format, args...)
	o.fail()
}

// RejectQuietly ends the reading with a message alone.
func (o *options) RejectQuietly(format string, args ...any) {
	o.proc.Warn(format, args...)
	o.ended, o.Status = true, o.Wrong
}

func (o *options) fail() {
	o.ended, o.Status = true, o.Wrong
	tryHelp(o.proc, o.describe())
}

func (o *options) answer(text string) {
	o.ended = true
	if _, err := io.WriteString(o.proc.Stdout, text); err != nil {
		o.Status = o.proc.WriteFailed(err)
	}
}

// usageError reports wrong operands: a message, then what to type for help. It returns status.
func usageError(p *shell.Proc, describe func() shell.Command, status int, format string, args ...any) int {
	p.Warn(format, args...)
	tryHelp(p, describe())
	return status
}

// tryHelp says what to type for help. grep shows its usage before that, and sed its whole help.
func tryHelp(p *shell.Proc, c shell.Command) {
	switch c.Name {
	case "grep":
		fmt.Fprintf(p.Stderr, "Usage: %s %s\nTry '%s --help' for more information.\n", p.Name(), c.Usage, p.Name())
	case "sed":
		_, _ = io.WriteString(p.Stderr, helpText(p.Name(), c))
	default:
		hint, ok := hints[c.Name]
		if !ok {
			hint = "Try '%s --help' for more information.\n"
		}
		fmt.Fprintf(p.Stderr, hint, p.Name())
	}
}

// hints are for commands that say it otherwise than coreutils do.
var hints = map[string]string{
	"cmp": diffHint, "diff": diffHint, "patch": diffHint,
	"tar":    "Try '%[1]s --help' or '%[1]s --usage' for more information.\n",
	"iconv":  "Try `%[1]s --help' or `%[1]s --usage' for more information.\n",
	"gzip":   "Try `%s --help' for more information.\n",
	"getent": "Try `%[1]s --help' or `%[1]s --usage' for more information.\n",
	"xz":     "%[1]s: Try `%[1]s --help' for more information.\n",
}

const diffHint = "%[1]s: Try '%[1]s --help' for more information.\n"

// helpText is what --help prints.
func helpText(name string, c shell.Command) string { return c.HelpText(name) }

// packages says whose behaviour a command follows, for --version, which scripts
// read to tell GNU's programs from others.
var packages = map[string]string{
	"grep": "GNU grep 3.8", "sed": "GNU sed 4.9", "find": "GNU findutils 4.9.0", "xargs": "GNU findutils 4.9.0",
	"tar": "GNU tar 1.34", "gzip": "gzip 1.12", "gunzip": "gzip 1.12", "zcat": "gzip 1.12", "diff": "GNU diffutils 3.8",
	"cmp": "GNU diffutils 3.8", "patch": "GNU patch 2.7.6", "column": "util-linux 2.38.1", "rev": "util-linux 2.38.1",
	"hexdump": "util-linux 2.38.1", "look": "util-linux 2.38.1", "envsubst": "GNU gettext 0.21", "awk": "GNU Awk 5.2.1", "rg": "ripgrep 13.0.0",
}

func versionText(name, command string) string {
	like, ok := packages[command]
	if !ok {
		like = "GNU coreutils 9.1"
	}
	version := like[strings.LastIndexByte(like, ' ')+1:]
	return fmt.Sprintf("%s (agent-sandbox, as %s) %s\n", name, like, version)
}

// isEnd tells an end of input from a failure to read.
func isEnd(err error) bool { return errors.Is(err, io.EOF) }
