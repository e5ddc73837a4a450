package text

import (
	"slices"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func revCommand() program.Description {
	return program.Description{
		Origin: "util-linux 2.38.1",
		Name:   "rev", Usage: "[OPTION] [FILE]...",
		Summary: "write the characters of each line, the last one first",
		Help: `  -0, --zero     lines end in NUL, not in a newline
  -h, --help     show this help and exit
  -V, --version  show the version and exit`,
		Run: runRev,
	}
}

var revOptions = []getopt.Option{
	{Short: '0', Long: "zero"},
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'V', Long: "version", ID: getopt.Version},
}

const revDash = "./-"

func runRev(p *shell.Proc) int {
	delim := byte('\n')
	o := program.NewOptions(p, revCommand, revOptions)
	for o.Next() {
		if o.ID == '0' {
			delim = 0
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	out, isBytes := program.NewOutput(p), program.IsByteLocale(p)
	names := o.Args()
	for i, name := range names {
		if name == "-" {
			names[i] = revDash // A file as any other.
		}
	}
	status, ended := program.EachLineOf(p, names, delim, cannotOpen, func(line []byte) bool {
		body := program.WithoutEnd(line, delim)
		reverseChars(body, isBytes)
		_, err := out.Write(line)
		return err == nil
	})
	if ended != nil {
		return status
	}
	return out.Close(status)
}

// cannotOpen prints the message of util-linux about a file that cannot be opened.
func cannotOpen(p *shell.Proc, name string, err error) {
	if name == revDash {
		name = "-"
	}
	p.Warn("cannot open %s: %s", name, shell.Strerror(err))
}

// reverseChars turns a line round; characters of several bytes stay whole.
func reverseChars(b []byte, isBytes bool) {
	if !isBytes {
		for i := 0; i < len(b); {
			_, n := utf8.DecodeRune(b[i:])
			if n > 1 {
				slices.Reverse(b[i : i+n])
			}
			i += n
		}
	}
	slices.Reverse(b)
}
