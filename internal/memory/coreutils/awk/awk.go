// Package awk holds the program awk, modeled on GNU awk.
package awk

import (
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/awk/interpreter"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/cformat"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func awkCommand() program.Description {
	return program.Description{
		Origin: "GNU Awk 5.2.1",
		Name:   "awk", Aliases: []string{"gawk", "mawk", "nawk"},
		Usage:   "[OPTION]... [--] 'PROGRAM' [FILE]...\n[OPTION]... -f PROGFILE [--] [FILE]...",
		Summary: "run a program for each line of the FILEs that a pattern matches",
		Help: `With no FILE, or when FILE is -, read standard input. FILE may also be VAR=VALUE.

  -f, --file=PROGFILE         read the program from PROGFILE; may be repeated
  -e, --source='PROGRAM'      a piece of the program; may be repeated
  -E, --exec=PROGFILE         the same as -f, and options end
  -F, --field-separator=FS    set FS
  -v, --assign=VAR=VALUE      set a variable before BEGIN
  -i, --include=inplace       what is printed while a file is read replaces it
  -k, --csv                   read records and fields of comma-separated values
  -b, --characters-as-bytes   take each byte as a character
  -r, --re-interval           does nothing: {n,m} always repeats
  -O, --optimize              does nothing
  -s, --no-optimize           does nothing
  -h, --help                  show this help and exit
  -V, --version               show the version and exit`,
		Run: runAWK,
	}
}

var awkOptions = []getopt.Option{
	{Short: 'f', Long: "file", Arg: getopt.Required},
	{Short: 'e', Long: "source", Arg: getopt.Required},
	{Short: 'E', Long: "exec", Arg: getopt.Required},
	{Short: 'F', Long: "field-separator", Arg: getopt.Required},
	{Short: 'v', Long: "assign", Arg: getopt.Required},
	{Short: 'i', Long: "include", Arg: getopt.Required},
	{Short: 'k', Long: "csv"},
	{Short: 'b', Long: "characters-as-bytes"},
	{Short: 'r', Long: "re-interval"},
	{Short: 'O', Long: "optimize"},
	{Short: 's', Long: "no-optimize"},
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'V', Long: "version", ID: getopt.Version},
}

// awkJob collects the options.
type awkJob struct {
	p      *shell.Proc
	run    interpreter.Options
	memory program.MemoryGuard
}

func runAWK(p *shell.Proc) int {
	j := &awkJob{p: p, memory: program.MemoryGuard{P: p}}
	defer j.memory.Close()
	o := program.NewOptions(p, awkCommand, awkOptions)
	o.Order = getopt.RequireOrder
	for o.Next() {
		if status := j.option(o); status != 0 {
			return status
		}
		if o.ID == 'E' {
			break
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	if len(j.run.Sources) == 0 {
		if len(args) == 0 {
			_, _ = io.WriteString(p.Stderr, awkCommand().HelpText(p.Name()))
			return 1
		}
		j.run.Sources = []interpreter.Source{{Name: "cmd. line", Text: args[0]}}
		args = args[1:]
	}
	j.run.Args = args
	j.run.Bytes = j.run.Bytes || program.IsByteLocale(p)
	j.run.Strftime = func(format string, t time.Time, budget func(n int) bool) (string, bool) {
		return strftime.FormatWithin(format, t, budget)
	}
	j.run.Float, j.run.Zone, j.run.Take = cformat.Float, program.Zone(p), j.memory.Take
	return interpreter.Run(p, &j.run)
}

// option takes an option; a status other than 0 ends the command.
func (j *awkJob) option(o *program.Options) int {
	switch o.ID {
	case 'f', 'E':
		text, err := j.read(o.Value)
		if err != nil {
			j.p.Warn("fatal: cannot open source file `%s' for reading: %s", o.Value, shell.Strerror(err))
			return 2
		}
		j.run.Sources = append(j.run.Sources, interpreter.Source{Name: o.Value, Text: text})
	case 'e':
		j.run.Sources = append(j.run.Sources, interpreter.Source{Name: "cmd. line", Text: o.Value})
	case 'F':
		fs := o.Value
		j.run.Separator = &fs
	case 'v':
		name, _, ok := strings.Cut(o.Value, "=")
		if !ok {
			return program.UsageError(j.p, awkCommand, 1, "`%s' argument to `-v' not in `var=value' form", o.Value)
		}
		if !interpreter.IsName(name) {
			j.p.Warn("fatal: `%s' is not a legal variable name", name)
			return 2
		}
		j.run.Assign = append(j.run.Assign, o.Value)
	case 'i':
		if o.Value != "inplace" {
			j.p.Warn("fatal: cannot open source file `%s' for reading: No such file or directory", o.Value)
			return 2
		}
		j.run.InPlace = true
	case 'k':
		j.run.CSV = true
	case 'b':
		j.run.Bytes = true
	}
	return 0
}

// awkProgramMost bounds the size of a program.
const awkProgramMost = 16 << 20

func (j *awkJob) read(name string) (string, error) {
	in, err := program.OpenInput(j.p, name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, awkProgramMost+1))
	if err == nil && len(b) > awkProgramMost {
		err = syscall.EFBIG
	}
	return string(b), err
}
