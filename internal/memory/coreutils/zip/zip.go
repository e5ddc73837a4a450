// Package zip holds the programs zip, unzip and zipinfo.
package zip

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func zipCommand() program.Description {
	return program.Description{
		Name: "zip", Usage: "[OPTION]... ARCHIVE [FILE]... [-x PATTERN...] [-i PATTERN...]",
		Summary: "put files into a zip archive",
		Help: `An ARCHIVE without a suffix gets .zip; - is standard output. A FILE - is standard input.

  -r  go into directories            -j  names without directories
  -u  replace what is newer, add     -f  replace what is newer
  -d  delete members                 -m  remove the files that were put in
  -x  leave out what matches         -i  take only what matches
  -@  read names from standard input -D  no entries for directories
  -y  links as links                 -X  no owners and times of access
  -q  quiet    -v  verbose           -T  test the archive
  -0 ... -9   how hard to compress; 0 is not at all, 6 is usual
  -g, -o      accepted`,
		Run: runZip,
	}
}

// zipJob holds the parsed command line of zip.
type zipJob struct {
	p    *shell.Proc
	tell io.Writer

	recursive, junk, quiet, move, fromStdin, noDirs, links, noExtra, test bool
	verbose                                                               bool
	action                                                                byte // 0, u, f or d
	level                                                                 int
	archive                                                               string
	names                                                                 []string
	exclude, include                                                      []string

	sources map[string]*zipSource
	order   []*zipSource
	packed  []string // files to remove with -m
	plainN  uint64
	packedN uint64
}

// zipLong are the long names of letters.
var zipLong = map[string]byte{
	"recurse-paths": 'r', "junk-paths": 'j', "quiet": 'q', "verbose": 'v', "update": 'u', "freshen": 'f', "delete": 'd', "move": 'm',
	"exclude": 'x', "include": 'i', "names-stdin": '@', "no-dir-entries": 'D', "symlinks": 'y', "no-extra": 'X', "test": 'T', "grow": 'g',
	"latest-time": 'o',
}

func runZip(p *shell.Proc) int {
	out := program.NewOutput(p)
	j := &zipJob{p: p, tell: out, level: 6, sources: make(map[string]*zipSource)}
	status := 0
	if len(p.Args) == 2 && (p.Args[1] == "-h" || p.Args[1] == "--help" || p.Args[1] == "-?") {
		_, _ = out.WriteString(zipCommand().HelpText(p.Name()))
	} else if wrong := j.parse(p.Args[1:]); wrong != "" {
		status = j.fail(16, "Invalid command arguments (%s)", wrong)
	} else {
		status = j.run()
	}
	return out.Close(status)
}

// fail prints why the archive was not written.
func (j *zipJob) fail(status int, format string, args ...any) int {
	fmt.Fprintf(j.tell, "\nzip error: %s\n", fmt.Sprintf(format, args...))
	return status
}

// parse reads the arguments. It returns the error.
func (j *zipJob) parse(args []string) string {
	var list *[]string // what takes the words that follow -x or -i
	var operands []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			operands = append(operands, args[i+1:]...)
			i = len(args)
		case len(a) > 1 && a[0] == '-':
			list = nil
			letters := a[1:]
			if name, ok := strings.CutPrefix(a, "--"); ok {
				letter, ok := zipLong[name]
				if !ok {
					return "long option '" + name + "' not supported"
				}
				letters = string(letter)
			}
			for k := range len(letters) {
				var wrong string
				if list, wrong = j.letter(letters[k]); wrong != "" {
					return wrong
				}
				if list != nil {
					if rest := letters[k+1:]; rest != "" {
						*list = append(*list, rest) // bounded: a word for an argument, which the shell has charged
					}
					break
				}
			}
		case list != nil && a == "@":
			list = nil
		case list != nil:
			*list = append(*list, a)
		default:
			operands = append(operands, a)
		}
	}
	if len(operands) == 0 {
		if len(j.exclude)+len(j.include) > 0 {
			return "nothing to select from"
		}
		operands = []string{"-", "-"}
	}
	j.archive, j.names = operands[0], operands[1:]
	return ""
}

func (j *zipJob) letter(c byte) (list *[]string, wrong string) {
	switch c {
	case 'r':
		j.recursive = true
	case 'j':
		j.junk = true
	case 'q':
		j.quiet = true
	case 'v':
		j.verbose = true
	case 'u', 'f', 'd':
		if j.action != 0 && j.action != c {
			return nil, "specify just one action"
		}
		j.action = c
	case 'm':
		j.move = true
	case 'x':
		return &j.exclude, ""
	case 'i':
		return &j.include, ""
	case '@':
		j.fromStdin = true
	case 'D':
		j.noDirs = true
	case 'y':
		j.links = true
	case 'X':
		j.noExtra = true
	case 'T':
		j.test = true
	case 'g', 'o':
	default:
		if c < '0' || c > '9' {
			return nil, "short option '" + string(rune(c)) + "' not supported"
		}
		j.level = int(c - '0')
	}
	return nil, ""
}

// say writes a line about a member.
func (j *zipJob) say(format string, args ...any) {
	if !j.quiet {
		fmt.Fprintf(j.tell, format, args...)
	}
}

func (j *zipJob) warn(format string, args ...any) {
	if !j.quiet || j.action != 'd' {
		fmt.Fprintf(j.tell, "\tzip warning: %s\n", fmt.Sprintf(format, args...))
	}
}
