package text

import (
	"bytes"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func lookCommand() program.Description {
	return program.Description{
		Origin: "util-linux 2.38.1",
		Name:   "look", Usage: "[OPTION]... STRING [FILE]",
		Summary: "write the lines of a sorted FILE that begin with STRING",
		Help: `Without FILE, the words in /usr/share/dict/words, with -d and -f.

  -a, --alternative       the words in /usr/share/dict/web2
  -d, --alphanum          only letters, digits and blanks count
  -f, --ignore-case       upper and lower case are the same
  -t, --terminate=CHAR    compare only up to CHAR
  -h, --help              show this help and exit
  -V, --version           show the version and exit

Exit status is 0 when there are such lines, 1 when there is none, 2 after an error.`,
		Run: runLook,
	}
}

var lookOptions = []getopt.Option{
	{Short: 'a', Long: "alternative"},
	{Short: 'd', Long: "alphanum"},
	{Short: 'f', Long: "ignore-case"},
	{Short: 't', Long: "terminate", Arg: getopt.Required},
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'V', Long: "version", ID: getopt.Version},
}

func runLook(p *shell.Proc) int {
	file := "/usr/share/dict/words"
	var alphanum, fold bool
	end := -1
	o := program.NewOptions(p, lookCommand, lookOptions)
	for o.Next() {
		switch o.ID {
		case 'a':
			file = "/usr/share/dict/web2"
		case 'd':
			alphanum = true
		case 'f':
			fold = true
		case 't':
			if o.Value != "" {
				end = int(o.Value[0])
			}
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	switch len(args) {
	case 1:
		alphanum, fold = true, true
	case 2:
		file = args[1]
	default:
		return program.UsageError(p, lookCommand, 1, "bad usage")
	}
	key := args[0]
	if i := bytes.IndexByte([]byte(key), byte(end)); end >= 0 && i >= 0 {
		key = key[:i+1]
	}
	want := lookKey(nil, []byte(key), alphanum, fold)
	out, found := program.NewOutput(p), false
	var buf []byte
	status, ended := program.EachLineOf(p, []string{file}, '\n', func(p *shell.Proc, name string, err error) {
		p.Warn("%s: %s", name, shell.Strerror(err))
	}, func(line []byte) bool {
		buf = lookKey(buf[:0], program.WithoutEnd(line, '\n'), alphanum, fold)
		switch order := bytes.Compare(buf[:min(len(buf), len(want))], want); {
		case order == 0:
			found = true
			_, _ = out.Write(program.WithoutEnd(line, '\n'))
			return out.WriteByte('\n') == nil
		case order > 0:
			return false
		}
		return true
	})
	if ended != nil || status != 0 {
		return status
	}
	if !found {
		return out.Close(1)
	}
	return out.Close(0)
}

// lookKey appends what is compared of a line.
func lookKey(to, line []byte, alphanum, fold bool) []byte {
	for _, c := range line {
		if alphanum && c != ' ' && c != '\t' && !ascii.IsLetter(c) && !ascii.IsDigit(c) {
			continue
		}
		if fold {
			c = ascii.ToLower(c)
		}
		to = append(to, c)
	}
	return to
}
