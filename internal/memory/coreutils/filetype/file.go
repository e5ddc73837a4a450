// Package filetype holds the program file, which recognizes the type of a file by its content.
package filetype

import (
	"strings"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func fileCommand() program.Description {
	return program.Description{
		Name: "file", Usage: "[OPTION]... FILE...", Summary: "print the kind of data in each FILE",
		Help: `  -b, --brief              leave out the names
  -E                       an unreadable file is an error
  -f, --files-from=FILE    read names from FILE, one on a line
  -F, --separator=STRING   write STRING, not :, behind the names
  -h, --no-dereference     name links, and do not follow them; the default
  -i, --mime               write the MIME type and the encoding
      --mime-type          write the MIME type
      --mime-encoding      write the encoding
  -L, --dereference        follow links
  -n, --no-buffer          write each line at once
  -N, --no-pad             do not align the lines
  -p, --preserve-date      accepted
  -r, --raw                write the names as they are
  -s, --special-files      read devices too
  -v, --version            show the version and exit
  -0, --print0             end names with NUL; twice: no separator, and lines too`,
		Run: runFile,
	}
}

const (
	fileMimeType = getopt.First + iota
	fileMimeEncoding
)

var fileOptions = []getopt.Option{
	{Short: 'b', Long: "brief"},
	{Short: 'E'},
	{Short: 'f', Long: "files-from", Arg: getopt.Required},
	{Short: 'F', Long: "separator", Arg: getopt.Required},
	{Short: 'h', Long: "no-dereference"},
	{Short: 'i', Long: "mime"},
	{Short: 'I', ID: 'i'},
	{Short: 'L', Long: "dereference"},
	{Long: "mime-type", ID: fileMimeType},
	{Long: "mime-encoding", ID: fileMimeEncoding},
	{Short: 'n', Long: "no-buffer"},
	{Short: 'N', Long: "no-pad"},
	{Short: 'p', Long: "preserve-date"},
	{Short: 'r', Long: "raw"},
	{Short: 's', Long: "special-files"},
	{Short: 'v', Long: "version", ID: getopt.Version},
	{Short: '0', Long: "print0"},
}

// fileNames says how file prints a name and its result.
type fileNames struct {
	proc      *shell.Proc
	out       *program.Output
	separator string
	width     int
	nuls      int
	brief     bool
	raw       bool
	follow    bool
	devices   bool
	strict    bool
	pad       bool
	flush     bool
	mimeType  bool
	mimeCode  bool
}

func runFile(p *shell.Proc) int {
	f := &fileNames{proc: p, out: program.NewOutput(p), separator: ":", pad: true}
	_, f.follow = p.LookupEnv("POSIXLY_CORRECT")
	o := program.NewOptions(p, fileCommand, fileOptions)
	var lists []string
	for o.Next() {
		switch o.ID {
		case 'f':
			lists = append(lists, o.Value)
		default:
			f.set(o.ID, o.Value)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	names := o.Args()
	if len(names) == 0 && len(lists) == 0 {
		program.TryHelp(p, fileCommand())
		return 1
	}
	status := 0
	for _, list := range lists {
		from, st := f.listed(list)
		if st != 0 {
			return st
		}
		status = max(status, f.all(from))
	}
	return f.out.Close(max(status, f.all(names)))
}

func (f *fileNames) set(id int, value string) {
	switch id {
	case 'b':
		f.brief = true
	case 'E':
		f.strict = true
	case 'F':
		f.separator = value
	case 'h':
		f.follow = false
	case 'i':
		f.mimeType, f.mimeCode = true, true
	case 'L':
		f.follow = true
	case fileMimeType:
		f.mimeType = true
	case fileMimeEncoding:
		f.mimeCode = true
	case 'n':
		f.flush = true
	case 'N':
		f.pad = false
	case 'r':
		f.raw = true
	case 's':
		f.devices = true
	case '0':
		f.nuls++
	}
}

// listed reads the names of a list.
func (f *fileNames) listed(path string) (names []string, status int) {
	names, err := program.ReadListFile(f.proc, path, '\n')
	if err == nil {
		return names, 0
	}
	f.proc.Warn("Cannot open `%s' (%s)", path, shell.Strerror(err))
	return nil, 1
}

// all looks at files, whose results are aligned.
func (f *fileNames) all(names []string) (status int) {
	f.width = 0
	for _, n := range names {
		f.width = max(f.width, utf8.RuneCountInString(f.printable(n)))
	}
	for _, name := range names {
		if err := f.proc.Spend(8); err != nil {
			return f.proc.Status(err)
		}
		k := f.look(name)
		if k.err != nil && f.strict {
			status = 1
		}
		f.write(name, k)
		if f.out.HasFailed() {
			break
		}
	}
	return status
}

// printable returns a name without control characters.
func (f *fileNames) printable(name string) string {
	if f.raw {
		return name
	}
	c := program.IsByteLocale(f.proc)
	var b strings.Builder
	quoting.EachPrintable(name, func(text string, raw byte) {
		switch {
		case text != "" && (len(text) == 1 || !c):
			b.WriteString(text) // bounded: by four times the name
		case text != "":
			for i := range len(text) {
				b.WriteString(quoting.OctalByte(text[i])) // bounded: by four times the name
			}
		default:
			b.WriteString(quoting.OctalByte(raw)) // bounded: by four times the name
		}
	})
	return b.String()
}

// write writes a line.
func (f *fileNames) write(name string, k fileKind) {
	shown := f.printable(name)
	if name == "-" {
		shown = "/dev/stdin"
	}
	line := ""
	if !f.brief && name != "" {
		line = shown
		if f.nuls > 0 {
			line += "\x00"
		}
		if f.nuls < 2 {
			line += f.separator + " "
			if f.pad {
				line += strings.Repeat(" ", max(0, f.width-utf8.RuneCountInString(f.printable(name)))) // bounded: by the longest name
			}
		}
	}
	end := "\n"
	if f.nuls > 1 {
		end = "\x00"
	}
	_, _ = f.out.WriteString(line + f.answer(shown, k) + end) // The error stays in out.
	if f.flush {
		_ = f.out.Flush()
	}
}

// answer returns the description of a file.
func (f *fileNames) answer(shown string, k fileKind) string {
	if k.err != nil {
		verb := "cannot open"
		if f.strict {
			verb = "ERROR: cannot stat"
		}
		return verb + " `" + shown + "' (" + shell.Strerror(k.err) + ")"
	}
	switch {
	case f.mimeType && f.mimeCode && k.charset != "":
		return k.mime + "; charset=" + k.charset
	case f.mimeType:
		return k.mime
	case f.mimeCode:
		return k.charset
	}
	return k.text
}
