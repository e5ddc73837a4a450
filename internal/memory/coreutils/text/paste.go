package text

import (
	"io"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func pasteCommand() program.Description {
	return program.Description{
		Name: "paste", Usage: "[OPTION]... [FILE]...",
		Summary: "write the lines of the FILEs beside each other",
		Help: `With no FILE, or when FILE is -, read standard input.

  -d, --delimiters=LIST  the characters of LIST in turn stand between lines, not TAB
  -s, --serial           the lines of one FILE beside each other, then those of the next
  -z, --zero-terminated  lines end in NUL, not in a newline
      --help             show this help and exit
      --version          show the version and exit

In LIST, \0 is nothing, and \b \f \n \r \t \v \\ are as ever.`,
		Run: runPaste,
	}
}

var pasteOptions = []getopt.Option{
	{Short: 's', Long: "serial"},
	{Short: 'd', Long: "delimiters", Arg: getopt.Required},
	{Short: 'z', Long: "zero-terminated"},
}

// paste is a run of paste.
type paste struct {
	p      *shell.Proc
	out    *program.Output
	delims []string // "" for nothing
	eol    byte
	status int
	ended  error
}

func runPaste(p *shell.Proc) int {
	s := &paste{p: p, out: program.NewOutput(p), delims: []string{"\t"}, eol: '\n'}
	serial, list := false, ""
	o := program.NewOptions(p, pasteCommand, pasteOptions)
	for o.Next() {
		switch o.ID {
		case 's':
			serial = true
		case 'd':
			list = o.Value
			if p.Reserve(16*len(list)) != nil {
				o.RejectQuietly("memory exhausted")
				continue
			}
			delims, ok := parseDelimiters(list)
			if s.delims = delims; !ok {
				o.RejectQuietly("delimiter list ends with an unescaped backslash: %s", list)
			}
		case 'z':
			s.eol = 0
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	names := program.FilesOrStdin(o.Args())
	if serial {
		s.serial(names)
	} else if !s.parallel(names) {
		return 1
	}
	if s.ended != nil {
		return p.Status(s.ended)
	}
	return s.out.Close(s.status)
}

// parseDelimiters reads a list of delimiters.
//
// bounded: runPaste has charged a delimiter for each byte.
func parseDelimiters(list string) (delims []string, ok bool) {
	if list == "" {
		return []string{""}, true
	}
	for i := 0; i < len(list); i++ {
		c := list[i]
		if c != '\\' {
			delims = append(delims, string([]byte{c}))
			continue
		}
		if i++; i == len(list) {
			return nil, false
		}
		switch c = list[i]; {
		case c == '0':
			delims = append(delims, "")
			continue
		case strings.IndexByte("bfnrtv", c) >= 0:
			c = "\b\f\n\r\t\v"[strings.IndexByte("bfnrtv", c)]
		}
		delims = append(delims, string([]byte{c}))
	}
	return delims, true
}

// serial writes a line for each file.
func (s *paste) serial(names []string) {
	l := program.NewLineReader(s.p, nil, s.eol)
	for _, name := range names {
		in, err := program.OpenInput(s.p, name)
		if err != nil {
			_ = s.out.Flush()
			s.p.Error(name, err)
			s.status = 1
			continue
		}
		l.Reset(in)
		for i := 0; !s.out.HasFailed(); i++ {
			line, ok := l.Next()
			if !ok {
				break
			}
			if i > 0 {
				_, _ = s.out.WriteString(s.delims[(i-1)%len(s.delims)])
			}
			_, _ = s.out.Write(program.WithoutEnd(line, s.eol))
		}
		_ = in.Close()
		if s.done(l, name) {
			return
		}
		_ = s.out.WriteByte(s.eol)
	}
}

// done reports what ended the reading; true when the process has to end.
func (s *paste) done(l *program.LineReader, name string) bool {
	if l.Spent {
		s.ended = l.Ended
		return true
	}
	if err := l.Err(); err != nil {
		s.p.Error(name, err)
		s.status = 1
	}
	return false
}

// parallel writes the lines of all files beside each other.
func (s *paste) parallel(names []string) bool {
	readers := make([]*program.LineReader, len(names))
	var stdin *program.LineReader
	for i, name := range names {
		if name == "-" {
			if stdin == nil {
				stdin = program.NewLineReader(s.p, s.p.Stdin, s.eol)
			}
			readers[i] = stdin
			continue
		}
		var in io.ReadCloser
		in, err := program.OpenInput(s.p, name)
		if err != nil {
			s.p.Error(name, err)
			return false
		}
		defer in.Close()
		if s.p.Reserve(program.BufferSize) != nil {
			s.p.Warn("memory exhausted")
			return false
		}
		readers[i] = program.NewLineReader(s.p, in, s.eol)
	}
	open := make([]bool, len(names))
	left := len(names)
	for i := range open {
		open[i] = true
	}
	for left > 0 && !s.out.HasFailed() && s.ended == nil {
		s.row(names, readers, open, &left)
	}
	return true
}

// row writes one line; delimiters of files that have ended are held back until another one has a line.
func (s *paste) row(names []string, readers []*program.LineReader, open []bool, left *int) {
	held := 0 // files without a line so far
	some := false
	for i, l := range readers {
		var line []byte
		ok := false
		if open[i] {
			if line, ok = l.Next(); !ok {
				open[i] = false
				*left--
				if s.done(l, names[i]) {
					return
				}
			}
		}
		if !ok {
			held++
			continue
		}
		some = true
		for j := i - held; j < i; j++ {
			if j > 0 {
				_, _ = s.out.WriteString(s.delims[(j-1)%len(s.delims)])
			}
		}
		held = 0
		if i > 0 {
			_, _ = s.out.WriteString(s.delims[(i-1)%len(s.delims)])
		}
		_, _ = s.out.Write(program.WithoutEnd(line, s.eol))
	}
	if !some {
		return
	}
	for j := len(readers) - held; j < len(readers); j++ {
		if j > 0 {
			_, _ = s.out.WriteString(s.delims[(j-1)%len(s.delims)])
		}
	}
	_ = s.out.WriteByte(s.eol)
}
