package text

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func uniqCommand() program.Description {
	return program.Description{
		Name: "uniq", Usage: "[OPTION]... [INPUT [OUTPUT]]",
		Summary: "write one of lines that are the same and follow each other",
		Help: `Without INPUT read standard input, without OUTPUT write standard output. What does
not follow each other is not compared: sort first.

  -c, --count            write before a line how often it stands there
  -d, --repeated         write only lines that are repeated, one of each
  -D                     write all lines that are repeated
      --all-repeated[=METHOD]  the same; groups are divided by an empty line:
                           METHOD is none (the default), prepend, separate
  -f, --skip-fields=N    do not compare the first N fields: blanks, then no blanks
      --group[=METHOD]   write all lines, with an empty line between groups: METHOD is
                           separate (the default), prepend, append, both
  -i, --ignore-case      upper and lower case are the same
  -s, --skip-chars=N     do not compare the first N bytes
  -u, --unique           write only lines that are not repeated
  -z, --zero-terminated  lines end in NUL, not in a newline
  -w, --check-chars=N    compare at most N bytes
      --help             show this help and exit
      --version          show the version and exit`,
		Run: runUniq,
	}
}

const (
	uniqAll = getopt.First + iota
	uniqGroup
)

var uniqOptions = getopt.WithDigits(getopt.None, []getopt.Option{
	{Short: 'c', Long: "count"},
	{Short: 'd', Long: "repeated"},
	{Short: 'D'},
	{Long: "all-repeated", ID: uniqAll, Arg: getopt.Optional},
	{Long: "group", ID: uniqGroup, Arg: getopt.Optional},
	{Short: 'i', Long: "ignore-case"},
	{Short: 'u', Long: "unique"},
	{Short: 'f', Long: "skip-fields", Arg: getopt.Required},
	{Short: 's', Long: "skip-chars", Arg: getopt.Required},
	{Short: 'w', Long: "check-chars", Arg: getopt.Required},
	{Short: 'z', Long: "zero-terminated"},
})

// divide says which groups are separated by empty lines.
type divide uint8

const (
	divideNone divide = iota
	dividePrepend
	divideSeparate
	divideAppend
	divideBoth
)

// uniq is a run of uniq.
type uniq struct {
	p                            *shell.Proc
	out                          *program.Output
	count, fold                  bool
	noUnique, noRepeats          bool // kinds of lines that are left out
	all                          bool
	divide                       divide
	group                        bool
	skipFields, skipChars, check int
	eol                          byte
	digits                       bool // the last option was a digit of the obsolete -N

	first   []byte // of the current group
	times   int
	written bool
}

func runUniq(p *shell.Proc) int {
	u := &uniq{p: p, eol: '\n', check: math.MaxInt}
	o := program.NewOptions(p, uniqCommand, uniqOptions)
	only := false
	for o.Next() {
		if u.option(o) {
			only = true
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	switch {
	case len(args) > 2:
		return program.UsageError(p, uniqCommand, 1, "extra operand %s", quoting.Name(args[2]))
	case u.group && only:
		return program.UsageError(p, uniqCommand, 1, "--group is mutually exclusive with -c/-d/-D/-u")
	case u.all && u.count:
		return program.UsageError(p, uniqCommand, 1, "printing all duplicated lines and repeat counts is meaningless")
	}
	in, err := program.OpenInput(p, append(args, "-")[0])
	if err != nil {
		p.Error(args[0], err)
		return 1
	}
	defer in.Close()
	u.out = program.NewOutput(p)
	if len(args) == 2 && args[1] != "-" {
		f, err := p.Create(args[1])
		if err != nil {
			p.Error(args[1], err)
			return 1
		}
		defer f.Close()
		u.out.Reset(f)
	}
	return u.run(in, append(args, "-")[0])
}

// option takes one option; only reports whether it leaves lines out.
func (u *uniq) option(o *program.Options) (only bool) {
	if o.ID >= '0' && o.ID <= '9' {
		if !u.digits {
			u.skipFields = 0
		}
		u.digits = true
		u.skipFields = min(u.skipFields, math.MaxInt32)*10 + o.ID - '0'
		return false
	}
	u.digits = false
	switch o.ID {
	case 'c':
		u.count = true
	case 'd':
		u.noUnique = true
	case 'u':
		u.noRepeats = true
	case 'D', uniqAll:
		u.all, u.noUnique = true, true
		if o.HasValue {
			u.divide = program.Choose(o, "--all-repeated", o.Value, []choice.Choice[divide]{{Name: "none", Value: divideNone}, {Name: "prepend", Value: dividePrepend}, {Name: "separate", Value: divideSeparate}})
		}
	case uniqGroup:
		u.group, u.divide = true, divideSeparate
		if o.HasValue {
			u.divide = program.Choose(o, "--group", o.Value, []choice.Choice[divide]{{Name: "prepend", Value: dividePrepend}, {Name: "append", Value: divideAppend}, {Name: "separate", Value: divideSeparate}, {Name: "both", Value: divideBoth}})
		}
	case 'i':
		u.fold = true
	case 'f':
		u.skipFields = uniqNumber(o, "invalid number of fields to skip")
	case 's':
		u.skipChars = uniqNumber(o, "invalid number of bytes to skip")
	case 'w':
		u.check = uniqNumber(o, "invalid number of bytes to compare")
	case 'z':
		u.eol = 0
	}
	return strings.ContainsRune("cduD", rune(o.ID)) || o.ID == uniqAll
}

func uniqNumber(o *program.Options, fault string) int {
	n, err := strconv.ParseUint(strings.TrimLeft(o.Value, " \t+"), 10, 63)
	if err != nil && !strings.Contains(err.Error(), strconv.ErrRange.Error()) {
		o.RejectQuietly("%s: %s", o.Value, fault)
	}
	return int(n)
}

func (u *uniq) run(in io.Reader, name string) int {
	l := program.NewLineReader(u.p, in, u.eol)
	started := false
	for {
		line, ok := l.Next()
		if !ok {
			break
		}
		line = program.WithoutEnd(line, u.eol)
		same := started && u.isSame(u.first, line)
		if started && !same {
			u.finish()
		}
		if !same {
			u.first = append(u.first[:0], line...)
			u.times = 0
			started = true
		}
		if u.times++; u.all || u.group {
			u.each(line, same)
		}
		if u.out.HasFailed() {
			break
		}
	}
	if started {
		u.finish()
		if u.group && u.divide != dividePrepend && u.divide != divideSeparate {
			_ = u.out.WriteByte(u.eol)
		}
	}
	if l.Spent {
		return u.p.Status(l.Ended)
	}
	if err := l.Err(); err != nil {
		_ = u.out.Flush()
		u.p.Warn("error reading %s", shell.Quote(name))
		return 1
	}
	return u.out.Close(0)
}

// each writes the lines of --group and -D as they come.
func (u *uniq) each(line []byte, same bool) {
	if u.group {
		if !same && (u.written || u.divide == dividePrepend || u.divide == divideBoth) {
			_ = u.out.WriteByte(u.eol)
		}
		u.line(line)
		return
	}
	if !same {
		return
	}
	if u.times == 2 {
		if u.divide == dividePrepend || u.divide == divideSeparate && u.written {
			_ = u.out.WriteByte(u.eol)
		}
		if !u.noRepeats {
			u.line(u.first)
		}
	}
	u.line(line)
}

func (u *uniq) line(line []byte) {
	u.written = true
	_, _ = u.out.Write(line)
	_ = u.out.WriteByte(u.eol)
}

// finish writes what is to be written of the current group.
func (u *uniq) finish() {
	if u.all || u.group {
		return
	}
	if u.times == 1 && u.noUnique || u.times > 1 && u.noRepeats {
		return
	}
	if u.count {
		var digits [24]byte
		_, _ = u.out.Write(append(program.AppendPadded(digits[:0], u.times, 7), ' '))
	}
	u.line(u.first)
}

// isSame reports whether two lines are the same where they are compared.
func (u *uniq) isSame(a, b []byte) bool {
	if u.skipFields > 0 || u.skipChars > 0 || u.check != math.MaxInt {
		a, b = u.compared(a), u.compared(b)
	}
	if u.fold {
		return len(a) == len(b) && equalFoldASCII(a, b)
	}
	return bytes.Equal(a, b)
}

func (u *uniq) compared(line []byte) []byte {
	i := 0
	for n := u.skipFields; n > 0 && i < len(line); n-- {
		for i < len(line) && isFieldBlank(line[i]) {
			i++
		}
		for i < len(line) && !isFieldBlank(line[i]) {
			i++
		}
	}
	i += min(u.skipChars, len(line)-i)
	return line[i : i+min(u.check, len(line)-i)]
}

func isFieldBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

func equalFoldASCII(a, b []byte) bool {
	for i := range a {
		if ascii.ToUpper(a[i]) != ascii.ToUpper(b[i]) {
			return false
		}
	}
	return true
}
