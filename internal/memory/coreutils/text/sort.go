package text

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func sortCommand() program.Description {
	return program.Description{
		Name: "sort", Usage: "[OPTION]... [FILE]...\n[OPTION]... --files0-from=F",
		Summary: "write the lines of all FILEs together, in order",
		Help: `With no FILE, or when FILE is -, read standard input. Lines are compared byte by byte.

How lines are compared:
  -b, --ignore-leading-blanks  blanks before a key do not count
  -d, --dictionary-order      only blanks, letters and digits count
  -f, --ignore-case           lower case counts as upper case
  -g, --general-numeric-sort  by value, as 1e3 and inf too
  -i, --ignore-nonprinting    only printable characters count
  -M, --month-sort            unknown < JAN < ... < DEC
  -h, --human-numeric-sort    by size, as 2K and 1G
  -n, --numeric-sort          by the number at the beginning
  -R, --random-sort           in no order, but what is the same together
      --random-source=FILE    take random bytes from FILE
  -r, --reverse               the other way round
      --sort=WORD             general-numeric, human-numeric, month, numeric, random, version
  -V, --version-sort          numbers within text by value

What else:
      --batch-size=NMERGE     does nothing
  -c, --check, --check=diagnose-first  say whether the input is in order
  -C, --check=quiet, --check=silent    the same without a word
      --compress-program=PROG  does nothing
      --files0-from=F         read the names of the files from F, each ended by NUL
  -k, --key=KEYDEF            compare by a part of the line; several are tried in turn
  -m, --merge                 the files are in order already
  -o, --output=FILE           write to FILE, which may be one of those read
  -s, --stable                what compares the same stays in its order
  -S, --buffer-size=SIZE      does nothing
  -t, --field-separator=SEP   SEP stands between fields, not the place before blanks
  -T, --temporary-directory=DIR  does nothing
      --parallel=N            does nothing
  -u, --unique                one line of those that compare the same; with -c, none may
  -z, --zero-terminated       lines end in NUL, not in a newline
      --help                  show this help and exit
      --version               show the version and exit

KEYDEF is F[.C][OPTS][,F[.C][OPTS]]: from field F, character C, both counted from 1, to the end
given, or that of the line. OPTS are letters of [bdfgiMhnRrV], for this key only.`,
		Run: runSort,
	}
}

// Options of sort without a letter.
const (
	sortBatch = getopt.First + iota
	sortCheck
	sortCompress
	sortFiles0
	sortParallel
	sortRandomSource
	sortWord
)

var sortOptions = []getopt.Option{
	{Short: 'b', Long: "ignore-leading-blanks"},
	{Long: "check", ID: sortCheck, Arg: getopt.Optional},
	{Long: "compress-program", ID: sortCompress, Arg: getopt.Required},
	{Short: 'd', Long: "dictionary-order"},
	{Short: 'f', Long: "ignore-case"},
	{Long: "files0-from", ID: sortFiles0, Arg: getopt.Required},
	{Short: 'g', Long: "general-numeric-sort"},
	{Short: 'i', Long: "ignore-nonprinting"},
	{Short: 'k', Long: "key", Arg: getopt.Required},
	{Short: 'm', Long: "merge"},
	{Short: 'M', Long: "month-sort"},
	{Short: 'n', Long: "numeric-sort"},
	{Short: 'h', Long: "human-numeric-sort"},
	{Short: 'V', Long: "version-sort"},
	{Short: 'R', Long: "random-sort"},
	{Long: "random-source", ID: sortRandomSource, Arg: getopt.Required},
	{Long: "sort", ID: sortWord, Arg: getopt.Required},
	{Short: 'o', Long: "output", Arg: getopt.Required},
	{Short: 'r', Long: "reverse"},
	{Short: 's', Long: "stable"},
	{Long: "batch-size", ID: sortBatch, Arg: getopt.Required},
	{Short: 'S', Long: "buffer-size", Arg: getopt.Required},
	{Short: 't', Long: "field-separator", Arg: getopt.Required},
	{Short: 'T', Long: "temporary-directory", Arg: getopt.Required},
	{Short: 'u', Long: "unique"},
	{Short: 'z', Long: "zero-terminated"},
	{Long: "parallel", ID: sortParallel, Arg: getopt.Required},
	{Short: 'c'},
	{Short: 'C'},
}

// sorter is a run of sort.
type sorter struct {
	p      *shell.Proc
	global sortKey // the options of keys without options of their own
	keys   []sortKey
	tab    int // -1: fields begin at blanks
	eol    byte
	check  byte // 'c', 'C' or 0
	merge  bool
	stable bool
	unique bool
	output string
	hasOut bool
	files0 string
	seed   [16]byte // for -R
	source string

	text  []byte
	lines []sortLine
}

func runSort(p *shell.Proc) int {
	s := &sorter{p: p, tab: -1, eol: '\n'}
	o := program.NewOptions(p, sortCommand, sortOptions)
	o.Wrong = 2
	for o.Next() {
		s.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	names := o.Args()
	if s.files0 != "" {
		var ok bool
		if names, ok = s.namesFrom(names); !ok {
			return 2
		}
	}
	if fault := s.settle(); fault != "" {
		p.Warn("%s", fault)
		return 2
	}
	if s.check != 0 && len(names) > 1 {
		p.Warn("extra operand %s not allowed with -%c", quoting.Name(names[1]), s.check)
		return 2
	}
	if s.check != 0 && s.hasOut {
		p.Warn("options '-%co' are incompatible", s.check)
		return 2
	}
	return s.run(program.FilesOrStdin(names))
}

func (s *sorter) option(o *program.Options) {
	switch o.ID {
	case 'b', 'd', 'f', 'g', 'h', 'i', 'M', 'n', 'r', 'R', 'V':
		s.global.set(byte(o.ID), true, true)
	case sortWord:
		letter := program.Choose(o, "--sort", o.Value, []choice.Choice[byte]{
			{Name: "general-numeric", Value: 'g'}, {Name: "human-numeric", Value: 'h'}, {Name: "month", Value: 'M'}, {Name: "numeric", Value: 'n'}, {Name: "random", Value: 'R'}, {Name: "version", Value: 'V'},
		})
		s.global.set(letter, true, true)
	case 'c', 'C', sortCheck:
		s.checkOption(o)
	case 'k':
		k, fault := parseSortKey(o.Value)
		if fault != "" {
			o.RejectQuietly("%s", fault)
			return
		}
		s.keys = append(s.keys, k)
	case 't':
		s.tabOption(o)
	case 'm':
		s.merge = true
	case 'o':
		if s.hasOut && s.output != o.Value {
			o.RejectQuietly("multiple output files specified")
		}
		s.output, s.hasOut = o.Value, true
	case 's':
		s.stable = true
	case 'u':
		s.unique = true
	case 'z':
		s.eol = 0
	case sortFiles0:
		s.files0 = o.Value
	case sortRandomSource:
		s.source = o.Value
	case 'S', sortBatch, sortParallel:
		s.sizeOption(o)
	}
}

func (s *sorter) checkOption(o *program.Options) {
	mode := byte('c')
	switch {
	case o.ID == 'C':
		mode = 'C'
	case o.ID == sortCheck && o.HasValue:
		mode = program.Choose(o, "--check", o.Value, []choice.Choice[byte]{{Name: "quiet", Value: 'C'}, {Name: "silent", Value: 'C'}, {Name: "diagnose-first", Value: 'c'}})
	}
	if s.check != 0 && s.check != mode {
		o.RejectQuietly("options '-cC' are incompatible")
	}
	s.check = mode
}

func (s *sorter) tabOption(o *program.Options) {
	tab := o.Value
	switch {
	case tab == "":
		o.RejectQuietly("empty tab")
		return
	case tab == `\0`:
		tab = "\x00"
	case len(tab) > 1:
		o.RejectQuietly("multi-character tab %s", quoting.Name(tab))
		return
	}
	if s.tab >= 0 && s.tab != int(tab[0]) {
		o.RejectQuietly("incompatible tabs")
	}
	s.tab = int(tab[0])
}

// sizeOption checks the number of an option that changes nothing here.
func (s *sorter) sizeOption(o *program.Options) {
	name := map[int]string{sortBatch: "batch-size", sortParallel: "parallel", 'S': "buffer-size"}[o.ID]
	if o.ID == 'S' {
		name = "buffer-size"
		if o.Long == "" {
			name = ""
		}
	}
	text := o.Value
	if o.ID == 'S' {
		text = strings.TrimSuffix(text, "%")
	}
	n, plain, err := sizes.Parse(text, "b")
	option := "--" + name
	if name == "" {
		option = "-S"
	}
	switch {
	case err == sizes.ErrSizeSuffix: //nolint:errorlint // It is returned as it is.
		o.RejectQuietly("invalid suffix in %s argument %s", option, quoting.Name(o.Value))
	case err == sizes.ErrSizeTooLarge: //nolint:errorlint // As above.
	case err != nil || plain:
		o.RejectQuietly("invalid %s argument %s", option, quoting.Name(o.Value))
	case o.ID == sortBatch && n < 2:
		o.Proc.Warn("invalid --batch-size argument %s", quoting.Name(o.Value))
		o.RejectQuietly("minimum --batch-size argument is '2'")
	case o.ID == sortParallel && n == 0:
		o.RejectQuietly("number in parallel must be nonzero")
	}
}

func (s *sorter) namesFrom(operands []string) (names []string, ok bool) {
	if len(operands) > 0 {
		s.p.Warn("extra operand %s", quoting.Name(operands[0]))
		_, _ = s.p.Stderr.Write([]byte("file operands cannot be combined with --files0-from\n"))
		program.TryHelp(s.p, sortCommand())
		return nil, false
	}
	names, err := program.ReadListFile(s.p, s.files0, 0)
	if err != nil {
		s.p.Errorf(err, "open failed: %s", shell.QuoteIfNeeded(s.files0))
		return nil, false
	}
	if len(names) == 0 {
		s.p.Warn("no input from %s", quoting.Name(s.files0))
		return nil, false
	}
	return names, true
}
