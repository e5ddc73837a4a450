package grep

import (
	"fmt"
	"math"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
)

func rgCommand() program.Description {
	return program.Description{
		Origin: "ripgrep 13.0.0",
		Name:   "rg", Usage: "[OPTIONS] PATTERN [PATH ...]\n[OPTIONS] -e PATTERN ... [PATH ...]\n[OPTIONS] --files [PATH ...]",
		Summary: "search directories for lines that match a pattern, as .gitignore allows",
		Help: `Without PATH, search standard input if it is a pipe, else the working directory.

  -e, --regexp PATTERN       a pattern; there may be several
  -f, --file FILE            patterns from FILE, one a line
  -i, --ignore-case          upper and lower case are the same
  -S, --smart-case           the same, unless the pattern has upper case
  -s, --case-sensitive       they are not (the default)
  -F, --fixed-strings        patterns are texts
  -w, --word-regexp          whole words
  -x, --line-regexp          whole lines
  -v, --invert-match         lines that do not match
  -P, --pcre2                Perl's expressions; they are understood anyway
  -m, --max-count NUM        at most NUM lines of a file
  -A, -B, -C NUM             lines behind, before and around
  -c, --count                how many lines of each file; --count-matches: how many matches
  -l, --files-with-matches   names of files; --files-without-match: of the others
  -o, --only-matching        the matches alone
  -r, --replace TEXT         TEXT instead of each match; $1, ${name} are groups
  -n, -N                     with and without line numbers
  -H, -I                     with and without names of files; --heading, --no-heading
  -b, --byte-offset          with places in bytes
      --column               with columns of the first match; --vimgrep
  -0, --null                 NUL behind names
  -q, --quiet                nothing
      --passthru             other lines too
      --json                 messages in JSON, one a line
  -U, --multiline            matches may go over lines; --no-multiline
      --multiline-dotall     and a dot matches a newline, too; --no-multiline-dotall
      --context-separator TEXT  between groups of lines
  -a, --text                 binary files are text
      --files                names of the files that would be searched
      --sort path            which is how it is anyway
  -g, --glob GLOB            only such files, with ! before it not such; --iglob
  -t, --type, -T, --type-not TYPE  kinds of files; --type-list, --type-add NAME:GLOB
  -., --hidden               also names that begin with a dot
      --no-ignore            whatever .gitignore, .ignore and .rgignore say
  -u                         --no-ignore; -uu also --hidden; -uuu also binary files
  -L, --follow               links too
      --max-depth NUM        directories below
      --no-messages          nothing about files that cannot be read
      --color WHEN           always, never, auto

Exit status is 0 when a line was found, 1 when none, 2 after an error.`,
		Run: runRg,
	}
}

const (
	rgWithout = getopt.First + iota
	rgColumn
	rgVimgrep
	rgHeading
	rgNoHeading
	rgFiles
	rgSort
	rgIglob
	rgTypeList
	rgTypeAdd
	rgHidden
	rgNoIgnore
	rgNoIgnoreVCS
	rgMaxDepth
	rgNoMessages
	rgColor
	rgSeparator
	rgPassthru
	rgMatches
	rgJSONLines
	rgNoMultiline
	rgDotall
	rgNoDotall
	rgNothing
	rgNothingArg
)

var rgOptions = []getopt.Option{
	{Short: 'e', Long: "regexp", Arg: getopt.Required},
	{Short: 'f', Long: "file", Arg: getopt.Required},
	{Short: 'i', Long: "ignore-case"},
	{Short: 'S', Long: "smart-case"},
	{Short: 's', Long: "case-sensitive"},
	{Short: 'F', Long: "fixed-strings"},
	{Short: 'w', Long: "word-regexp"},
	{Short: 'x', Long: "line-regexp"},
	{Short: 'v', Long: "invert-match"},
	{Short: 'P', Long: "pcre2"},
	{Short: 'm', Long: "max-count", Arg: getopt.Required},
	{Short: 'A', Long: "after-context", Arg: getopt.Required},
	{Short: 'B', Long: "before-context", Arg: getopt.Required},
	{Short: 'C', Long: "context", Arg: getopt.Required},
	{Short: 'c', Long: "count"},
	{Short: 'l', Long: "files-with-matches"},
	{Long: "files-without-match", ID: rgWithout},
	{Short: 'o', Long: "only-matching"},
	{Short: 'r', Long: "replace", Arg: getopt.Required},
	{Short: 'n', Long: "line-number"},
	{Short: 'N', Long: "no-line-number"},
	{Short: 'H', Long: "with-filename"},
	{Short: 'I', Long: "no-filename"},
	{Long: "heading", ID: rgHeading},
	{Long: "no-heading", ID: rgNoHeading},
	{Short: 'b', Long: "byte-offset"},
	{Long: "column", ID: rgColumn},
	{Long: "vimgrep", ID: rgVimgrep},
	{Short: '0', Long: "null"},
	{Short: 'q', Long: "quiet"},
	{Long: "passthru", ID: rgPassthru},
	{Long: "passthrough", ID: rgPassthru},
	{Long: "count-matches", ID: rgMatches},
	{Long: "json", ID: rgJSONLines},
	{Short: 'U', Long: "multiline"},
	{Long: "no-multiline", ID: rgNoMultiline},
	{Long: "multiline-dotall", ID: rgDotall},
	{Long: "no-multiline-dotall", ID: rgNoDotall},
	{Long: "context-separator", ID: rgSeparator, Arg: getopt.Required},
	{Short: 'a', Long: "text"},
	{Long: "files", ID: rgFiles},
	{Long: "sort", ID: rgSort, Arg: getopt.Required},
	{Short: 'g', Long: "glob", Arg: getopt.Required},
	{Long: "iglob", ID: rgIglob, Arg: getopt.Required},
	{Short: 't', Long: "type", Arg: getopt.Required},
	{Short: 'T', Long: "type-not", Arg: getopt.Required},
	{Long: "type-list", ID: rgTypeList},
	{Long: "type-add", ID: rgTypeAdd, Arg: getopt.Required},
	{Short: '.', Long: "hidden", ID: rgHidden},
	{Long: "no-ignore", ID: rgNoIgnore},
	{Long: "no-ignore-vcs", ID: rgNoIgnoreVCS},
	{Short: 'u', Long: "unrestricted"},
	{Short: 'L', Long: "follow"},
	{Long: "max-depth", ID: rgMaxDepth, Arg: getopt.Required},
	{Long: "maxdepth", ID: rgMaxDepth, Arg: getopt.Required},
	{Long: "no-messages", ID: rgNoMessages},
	{Long: "color", ID: rgColor, Arg: getopt.Required},
	{Long: "line-buffered", ID: rgNothing},
	{Long: "no-config", ID: rgNothing},
	{Short: 'j', Long: "threads", ID: rgNothingArg, Arg: getopt.Required},
	{Long: "no-mmap", ID: rgNothing},
	{Long: "mmap", ID: rgNothing},
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'V', Long: "version", ID: getopt.Version},
}

// option takes one option; failed is set when that is all.
func (r *rg) option(o *program.Options) {
	switch o.ID {
	case 'i', 'S', 's', 'F', 'w', 'x', 'v':
		r.patternFlag(o.ID)
	case 'e':
		r.failed = r.addPatterns(o.Value)
	case 'f':
		r.failed = r.addFile(o.Value)
	case 'm', 'A', 'B', 'C', rgMaxDepth:
		r.numeric(o)
	case 'r':
		r.replace, r.replaces = o.Value, true
	case 'n', rgColumn, rgVimgrep:
		r.numbers = 1
		r.column = r.column || o.ID != 'n'
		if o.ID == rgVimgrep {
			r.names, r.heading, r.vimgrep = 1, -1, true
		}
	case 'N':
		r.numbers = -1
	case 'H':
		r.names = 1
	case 'I':
		r.names = -1
	case rgHeading:
		r.heading = 1
	case rgNoHeading:
		r.heading = -1
	case rgSort:
		if o.Value != "path" && o.Value != "none" {
			o.RejectQuietly("--sort %s is not supported here", o.Value)
		}
	case rgColor:
		if r.color = nil; o.Value == "always" || o.Value == "ansi" {
			o.RejectQuietly("--color %s is not supported here", o.Value)
		}
	case rgTypeList:
		r.types.List = true
	case rgTypeAdd:
		r.types.Add(o.Value)
	case 't':
		r.types.Wanted = append(r.types.Wanted, o.Value)
	case 'T':
		r.types.Unwanted = append(r.types.Unwanted, o.Value)
	case 'g', rgIglob:
		r.walk.AddGlob(o.Value, o.ID == rgIglob)
	case rgSeparator:
		r.separator = o.Value
	default:
		r.toggle(o.ID)
	}
}

func (r *rg) patternFlag(id int) {
	switch id {
	case 'i':
		r.fold, r.smart = true, false
	case 'S':
		r.smart, r.fold = true, false
	case 's':
		r.smart, r.fold = false, false
	case 'F':
		r.fixed = true
	case 'w':
		r.words = true
	case 'x':
		r.wholeLines = true
	case 'v':
		r.invert = true
	}
}

func (r *rg) toggle(id int) {
	switch id {
	case 'c':
		r.count = true
	case 'l':
		r.list = true
	case rgWithout:
		r.listNot = true
	case 'o':
		r.only = true
	case 'b':
		r.offset = true
	case '0':
		r.nulNames = true
	case 'q':
		r.quiet = true
	case 'a':
		r.binary = binaryText
	case rgFiles:
		r.filesOnly = true
	case rgMatches:
		r.matches = true
	case rgJSONLines:
		r.json = &rgJSON{r: r, begun: r.p.Now()}
	case 'U', rgNoMultiline:
		r.multiline = id == 'U'
	case rgDotall, rgNoDotall:
		r.dotall = id == rgDotall
	case rgPassthru:
		r.passthru = true
	case rgHidden:
		r.walk.Hidden = true
	case rgNoIgnore:
		r.walk.NoIgnore = true
	case rgNoIgnoreVCS:
		r.walk.NoGit = true
	case 'u':
		r.unlimited++
		r.walk.NoIgnore = true
		r.walk.Hidden = r.walk.Hidden || r.unlimited > 1
		r.binaries = r.binaries || r.unlimited > 2
	case 'L':
		r.walk.Follow = true
	case rgNoMessages:
		r.noMessages = true
	}
}

func (r *rg) numeric(o *program.Options) {
	n, err := strconv.ParseUint(o.Value, 10, 63)
	if err != nil {
		name := map[int]string{'m': "--max-count", 'A': "--after-context", 'B': "--before-context", 'C': "--context", rgMaxDepth: "--max-depth"}[o.ID]
		fmt.Fprintf(r.p.Stderr, "error: Invalid value for '%s <NUM>': invalid digit found in string\n\n", name)
		r.failed = true
		return
	}
	lines := int(min(n, math.MaxInt32))
	switch o.ID {
	case 'm':
		r.max = int64(n)
	case 'A':
		r.after = lines
	case 'B':
		r.before = lines
	case 'C':
		r.around = lines
	case rgMaxDepth:
		r.walk.Depth = lines
	}
}
