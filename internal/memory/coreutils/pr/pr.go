// Package pr holds the program pr, which lays text out in pages and columns.
package pr

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func prCommand() program.Description {
	return program.Description{
		Name: "pr", Usage: "[OPTION]... [FILE]...",
		Summary: "divide the FILEs into pages, and pages into columns",
		Help: `With no FILE, or when FILE is -, read standard input.

  +FIRST[:LAST], --pages=FIRST[:LAST]  write only these pages
  -COLUMNS, --columns=COLUMNS  that many columns, one below the other filled evenly
  -a, --across              fill columns row by row
  -c, --show-control-chars  write control characters as ^X, others as \ooo
  -d, --double-space        an empty line behind each line
  -D, --date-format=FORMAT  FORMAT, as date has it, for the date of the header
  -e[CHAR[WIDTH]], --expand-tabs[=CHAR[WIDTH]]
                            blanks for each CHAR (TAB) of the input, every WIDTH (8) columns
  -F, -f, --form-feed       a form feed ends a page, not empty lines
  -h, --header=HEADER       HEADER, not the name of the file, in the middle of the header
  -i[CHAR[WIDTH]], --output-tabs[=CHAR[WIDTH]]
                            CHAR (TAB) for blanks of the output, every WIDTH (8) columns
  -J, --join-lines          columns hold whole lines and are not aligned
  -l, --length=LENGTH       lines of a page (66) with header and trailer, which one of up to
                              10 lines does not have
  -m, --merge               a column for each FILE
  -n[SEP[DIGITS]], --number-lines[=SEP[DIGITS]]
                            number lines with DIGITS (5) digits, SEP (TAB) behind them
  -N, --first-line-number=NUMBER  the number of the first line that is written
  -o, --indent=MARGIN       blanks before each line
  -r, --no-file-warnings    say nothing about a FILE that cannot be opened
  -s[CHAR], --separator[=CHAR]
                            CHAR (TAB) between columns, which hold whole lines and are not
                              aligned without -w
  -S[STRING], --sep-string[=STRING]
                            STRING between columns
  -t, --omit-header         no header and trailer, nor empty lines at the end of a page
  -T, --omit-pagination     the same, and no form feeds either
  -v, --show-nonprinting    write what cannot be printed as \ooo
  -w, --width=WIDTH         columns of a page (72), where there are several text columns
  -W, --page-width=WIDTH    the same always: what is longer is cut
      --help                show this help and exit
      --version             show the version and exit`,
		Run: runPr,
	}
}

const (
	prPages   = getopt.First + 800
	prColumns = getopt.First + 801
)

var prOptions = getopt.WithDigits(getopt.None, []getopt.Option{
	{Long: "pages", ID: prPages, Arg: getopt.Required},
	{Long: "columns", ID: prColumns, Arg: getopt.Required},
	{Short: 'a', Long: "across"},
	{Short: 'b'},
	{Short: 'c', Long: "show-control-chars"},
	{Short: 'd', Long: "double-space"},
	{Short: 'D', Long: "date-format", Arg: getopt.Required},
	{Short: 'e', Long: "expand-tabs", Arg: getopt.Optional},
	{Short: 'f', Long: "form-feed"},
	{Short: 'F'},
	{Short: 'h', Long: "header", Arg: getopt.Required},
	{Short: 'i', Long: "output-tabs", Arg: getopt.Optional},
	{Short: 'J', Long: "join-lines"},
	{Short: 'l', Long: "length", Arg: getopt.Required},
	{Short: 'm', Long: "merge"},
	{Short: 'n', Long: "number-lines", Arg: getopt.Optional},
	{Short: 'N', Long: "first-line-number", Arg: getopt.Required},
	{Short: 'o', Long: "indent", Arg: getopt.Required},
	{Short: 'r', Long: "no-file-warnings"},
	{Short: 's', Long: "separator", Arg: getopt.Optional},
	{Short: 'S', Long: "sep-string", Arg: getopt.Optional},
	{Short: 't', Long: "omit-header"},
	{Short: 'T', Long: "omit-pagination"},
	{Short: 'v', Long: "show-nonprinting"},
	{Short: 'w', Long: "width", Arg: getopt.Required},
	{Short: 'W', Long: "page-width", Arg: getopt.Required},
})

func runPr(p *shell.Proc) int {
	style := newPrStyle(p)
	o := program.NewOptions(p, prCommand, prOptions)
	o.Order = getopt.InOrder
	for o.Next() {
		style.set(o)
	}
	style.settle(o)
	if o.HasEnded() {
		return o.Status
	}
	names := program.FilesOrStdin(append(style.names, o.Args()...))
	pr := newPrinter(p, style)
	if style.merge {
		pr.together(names)
		names = nil
	}
	for _, name := range names {
		if pr.alone(name); pr.isStopped() {
			break
		}
	}
	if pr.ended != nil {
		return p.Status(pr.ended)
	}
	return pr.out.Close(pr.status)
}

// report prints why a file cannot be read, unless the options suppress it.
func (r *printer) report(name string, err error) {
	r.status = 1
	if !r.style.silent {
		_ = r.out.Flush()
		r.p.Error(name, err)
	}
}

// alone writes the pages of one file.
func (r *printer) alone(name string) {
	s, ok := r.open(name)
	if !ok {
		return
	}
	defer s.Close()
	title := name
	if name == "-" {
		title = ""
	}
	r.pages([]*prSource{s}, title, s.modified)
}

// together writes the pages of files side by side.
func (r *printer) together(names []string) {
	var sources []*prSource
	defer func() {
		for _, s := range sources {
			s.Close()
		}
	}()
	for _, name := range names {
		s, ok := r.open(name)
		if !ok {
			continue
		}
		if sources = append(sources, s); !r.hold(program.BufferSize) {
			return
		}
	}
	if len(sources) == 0 {
		return
	}
	r.style.columns = len(names) // those that cannot be opened take room too
	r.pages(sources, "", r.p.Now())
}
