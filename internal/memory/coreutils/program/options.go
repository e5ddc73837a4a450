package program

import (
	"fmt"
	"io"

	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Options reads a command's options. It answers --help and --version and reports wrong
// options in GNU's words; Ended and Status say how that went.
type Options struct {
	*getopt.Parser
	// Status is the exit status when Ended.
	Status int
	// Wrong is the exit status after a wrong option; 1 unless the command sets it
	// before the first Next.
	Wrong int

	Proc     *shell.Proc
	describe func() Description
	ended    bool
}

// NewOptions returns the options of p, whose table is options. With POSIXLY_CORRECT
// in the environment they end at the first operand.
func NewOptions(p *shell.Proc, describe func() Description, table []getopt.Option) *Options {
	o := &Options{Parser: getopt.New(p.Args, table), Wrong: 1, Proc: p, describe: describe}
	if _, ok := p.LookupEnv("POSIXLY_CORRECT"); ok {
		o.Order = getopt.RequireOrder
	}
	return o
}

// Next goes to the next option that the command has to look at.
func (o *Options) Next() bool {
	if o.ended {
		return false
	}
	if !o.Parser.Next() {
		if o.Err != nil {
			o.Proc.Warn("%v", o.Err)
			o.Fail()
		}
		return false
	}
	switch o.ID {
	case getopt.Help:
		o.Answer(o.describe().HelpText(o.Proc.Name()))
		return false
	case getopt.Version:
		o.Answer(o.describe().VersionText(o.Proc.Name()))
		return false
	}
	return true
}

// HasEnded reports whether the command is done: help was printed, or an option is wrong.
func (o *Options) HasEnded() bool { return o.ended }

// Reject ends the reading with a message, and the hint for help.
func (o *Options) Reject(format string, args ...any) {
	o.Proc.Warn(format, args...)
	o.Fail()
}

// RejectQuietly ends the reading with a message alone.
func (o *Options) RejectQuietly(format string, args ...any) {
	o.Proc.Warn(format, args...)
	o.End(o.Wrong)
}

// End ends the reading with an exit status.
func (o *Options) End(status int) { o.ended, o.Status = true, status }

// Fail ends the reading with the hint for help, and with the status Wrong.
func (o *Options) Fail() {
	o.End(o.Wrong)
	TryHelp(o.Proc, o.describe())
}

// Answer ends the reading with a text on standard output.
func (o *Options) Answer(text string) {
	o.ended = true
	if _, err := io.WriteString(o.Proc.Stdout, text); err != nil {
		o.Status = o.Proc.WriteFailed(err)
	}
}

// UsageError reports wrong operands: a message, then the hint for help. It returns status.
func UsageError(p *shell.Proc, describe func() Description, status int, format string, args ...any) int {
	p.Warn(format, args...)
	TryHelp(p, describe())
	return status
}

// TryHelp writes the hint for help.
func TryHelp(p *shell.Proc, d Description) {
	switch {
	case d.HelpOnError:
		_, _ = io.WriteString(p.Stderr, d.HelpText(p.Name()))
	case d.TryHelp != "":
		fmt.Fprintf(p.Stderr, d.TryHelp, p.Name())
	default:
		fmt.Fprintf(p.Stderr, "Try '%s --help' for more information.\n", p.Name())
	}
}
