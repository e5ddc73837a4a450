package coreutils

import (
	"errors"
	"fmt"
	"io"

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
	describe func() description
	ended    bool
}

// newOptions returns the options of p, whose table is options. With POSIXLY_CORRECT
// in the environment they end at the first operand.
func newOptions(p *shell.Proc, describe func() description, table []getopt.Option) *options {
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
		o.answer(o.describe().helpText(o.proc.Name()))
		return false
	case getopt.Version:
		o.answer(o.describe().versionText(o.proc.Name()))
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
	o.end(o.Wrong)
}

// end ends the reading with an exit status.
func (o *options) end(status int) { o.ended, o.Status = true, status }

func (o *options) fail() {
	o.end(o.Wrong)
	tryHelp(o.proc, o.describe())
}

func (o *options) answer(text string) {
	o.ended = true
	if _, err := io.WriteString(o.proc.Stdout, text); err != nil {
		o.Status = o.proc.WriteFailed(err)
	}
}

// usageError reports wrong operands: a message, then what to type for help. It returns status.
func usageError(p *shell.Proc, describe func() description, status int, format string, args ...any) int {
	p.Warn(format, args...)
	tryHelp(p, describe())
	return status
}

// tryHelp writes what to type for help.
func tryHelp(p *shell.Proc, d description) {
	switch {
	case d.HelpOnError:
		_, _ = io.WriteString(p.Stderr, d.helpText(p.Name()))
	case d.TryHelp != "":
		fmt.Fprintf(p.Stderr, d.TryHelp, p.Name())
	default:
		fmt.Fprintf(p.Stderr, "Try '%s --help' for more information.\n", p.Name())
	}
}

// isEnd tells an end of input from a failure to read.
func isEnd(err error) bool { return errors.Is(err, io.EOF) }
