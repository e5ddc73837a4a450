package coreutils

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed434b0696/agent-sandbox/shell"
	"github.com/seed434b0696/agent-sandbox/shell/getopt"
	"github.com/seed434b0696/agent-sandbox/shell/regex"
)

func rgCommand() shell.Command {
	return shell.Command{
		Name: "rg", Usage: "[OPTIONS] PATTERN [PATH ...]\n[OPTIONS] -e PATTERN ... [PATH ...]\n[OPTIONS] --files [PATH ...]",
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

// rgStdin is the name of standard input.
const rgStdin = "<stdin>"

// rg is a run of rg: a walk over directories, and grep's search in their files.
type rg struct {
	*grep
	walk      *sourceWalk
	smart     bool
	fixed     bool
	replace   string
	replaces  bool
	filesOnly bool
	heading   int // as names
	numbers   int
	types     *fileTypes
	binaries  bool // search those that are found, too
	unlimited int
	column    bool
	passthru  bool
	matches   bool // are counted
	vimgrep   bool
	multiline bool
	dotall    bool
	json      *rgJSON
}

func runRg(p *shell.Proc) int {
	r := &rg{grep: newGrep(p), walk: newSourceWalk(p, ".rgignore"), types: newFileTypes()}
	r.bytes, r.label = true, rgStdin
	o := newOptions(p, rgCommand, rgOptions)
	o.Wrong = 2
	for o.Next() {
		if r.option(o); r.failed {
			return 2
		}
	}
	if o.Ended() {
		return o.Status
	}
	if r.types.list {
		return r.types.write(r.out)
	}
	if !r.settleJSON() {
		return 2
	}
	operands := o.Args()
	if !r.given && !r.filesOnly {
		if len(operands) == 0 {
			fmt.Fprintf(p.Stderr, "error: The following required arguments were not provided:\n    <PATTERN>\n\nFor more information try --help\n")
			return 2
		}
		r.addPatterns(operands[0])
		operands = operands[1:]
	}
	if err := r.types.settle(); err != "" {
		fmt.Fprintf(p.Stderr, "%s\n", err)
		return 2
	}
	r.walk.types = r.types
	if !r.filesOnly && !r.prepare() {
		return 2
	}
	return r.search(operands)
}

// option takes one option; failed is set when that is all.
func (r *rg) option(o *options) {
	switch o.ID {
	case 'i', 'S', 's', 'F', 'w', 'x', 'v':
		r.patternFlag(o.ID)
	case 'e':
		r.addPatterns(o.Value)
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
		r.types.list = true
	case rgTypeAdd:
		r.types.add(o.Value)
	case 't':
		r.types.wanted = append(r.types.wanted, o.Value)
	case 'T':
		r.types.unwanted = append(r.types.unwanted, o.Value)
	case 'g', rgIglob:
		r.walk.addGlob(o.Value, o.ID == rgIglob)
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
		r.walk.hidden = true
	case rgNoIgnore:
		r.walk.noIgnore = true
	case rgNoIgnoreVCS:
		r.walk.noGit = true
	case 'u':
		r.unlimited++
		r.walk.noIgnore = true
		r.walk.hidden = r.walk.hidden || r.unlimited > 1
		r.binaries = r.binaries || r.unlimited > 2
	case 'L':
		r.walk.follow = true
	case rgNoMessages:
		r.noMessages = true
	}
}

func (r *rg) numeric(o *options) {
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
		r.walk.depth = lines
	}
}

// prepare compiles the patterns.
func (r *rg) prepare() bool {
	if r.smart {
		r.fold = !hasUpper(r.patterns)
	}
	pattern := strings.Join(r.patterns, "\n")
	if !r.fixed {
		pattern = r.patterns[0]
		if len(r.patterns) > 1 {
			pattern = "(?:" + strings.Join(r.patterns, ")|(?:") + ")"
		}
	}
	if r.passthru {
		r.before, r.after = math.MaxInt32, math.MaxInt32
	}
	if r.before < 0 {
		r.before = r.around
	}
	if r.after < 0 {
		r.after = r.around
	}
	if r.before <= 0 && r.after <= 0 {
		r.before, r.after = -1, -1
	}
	if !r.multiline && matchesNewline(pattern, r.fixed) {
		fmt.Fprintf(r.p.Stderr, "the literal '\"\\n\"' is not allowed in a regex\n\nConsider enabling multiline mode with the --multiline flag (or -U for short).\nWhen multiline mode is enabled, new line characters can be matched.\n")
		return false
	}
	flags := regex.Multiline | regex.NoNewline
	if r.multiline {
		flags = regex.Multiline
		r.count, r.matches = r.count || r.matches, false
		if r.dotall && !r.fixed {
			pattern = "(?s:" + pattern + ")"
		}
	}
	if r.fixed {
		flags |= regex.Literal | regex.Grep
	} else {
		flags |= regex.Perl | regex.Grep
	}
	for flag, on := range map[regex.Flags]bool{regex.IgnoreCase: r.fold, regex.WholeLine: r.wholeLines, regex.WholeWord: r.words} {
		if on {
			flags |= flag
		}
	}
	patterns := []string{pattern}
	if r.fixed {
		patterns = r.patterns
	}
	re, err := regex.CompileAll(patterns, flags)
	if err != nil {
		fmt.Fprintf(r.p.Stderr, "regex parse error:\n    %s\nerror: %s\n", pattern, regexFault(err))
		return false
	}
	r.m = re.Matcher(r.p.Spend)
	r.matches = r.matches || r.count && r.only
	if r.matches {
		r.count, r.only = false, false
	}
	if r.replaces || r.column || r.matches || r.multiline || r.json != nil {
		r.lineHook = &rgHook{r: r, count: r.matches && !r.multiline, json: r.json, vimgrep: r.vimgrep, names: re.Names(), caps: make([]int, 2*(re.Groups()+1))}
	}
	return true
}

// settleJSON tells whether --json goes with the other options.
func (r *rg) settleJSON() bool {
	if r.json == nil {
		return true
	}
	for _, c := range []struct {
		name string
		on   bool
	}{{"count", r.count}, {"count-matches", r.matches}, {"files", r.filesOnly}, {"files-with-matches", r.list}, {"files-without-match", r.listNot}} {
		if c.on {
			fmt.Fprintf(r.p.Stderr, "error: The argument '--%s' cannot be used with '--json'\n\nFor more information try --help\n", c.name)
			return false
		}
	}
	r.only, r.replaces, r.column, r.vimgrep, r.heading = false, false, false, false, -1
	return true
}

// matchesNewline tells whether an expression asks for a newline, which is in no line.
func matchesNewline(pattern string, fixed bool) bool {
	if fixed {
		return false
	}
	outside := true // of a class of other characters
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			if i++; pattern[i] == 'n' && outside {
				return true
			}
		case c == '\n' && outside:
			return true
		case c == '[' && i+1 < len(pattern) && pattern[i+1] == '^':
			outside = false
		case c == ']':
			outside = true
		}
	}
	return false
}

// hasUpper tells whether a pattern has a letter in upper case that stands for itself.
func hasUpper(patterns []string) bool {
	for _, p := range patterns {
		for i, c := range p {
			if unicode.IsUpper(c) && (i == 0 || p[i-1] != '\\') {
				return true
			}
		}
	}
	return false
}

// search goes over the operands and returns the exit status.
func (r *rg) search(operands []string) int {
	stdin := len(operands) == 0 && !r.filesOnly && r.readsStdin()
	dot := len(operands) == 0 && !stdin
	switch {
	case stdin:
		operands = []string{"-"}
	case dot:
		operands = []string{"./"}
	}
	several := len(operands) > 1
	for _, name := range operands {
		if info, err := r.p.Stat(name); name != "-" && err == nil && info.IsDir() {
			several = true
		}
	}
	terminal := isTerminal(r.p.Stdout)
	r.showNames = r.names > 0 || r.names == 0 && several
	r.number = r.numbers > 0 || r.numbers == 0 && (terminal && !stdin || r.json != nil)
	if r.heading > 0 || r.heading == 0 && terminal {
		r.withHeading = r.showNames
	}
	for _, name := range operands {
		if r.ended != nil || r.over() || r.filesOnly && r.quiet && r.matched {
			break
		}
		if name == "-" {
			r.searchIn(r.label, r.p.Stdin, true)
			continue
		}
		err := r.walk.run(name, dot, r.found)
		if err != nil && r.ended == nil {
			if r.ended = r.p.Context().Err(); r.ended == nil {
				r.ended = err
			}
		}
	}
	return r.finishStatus()
}

func (r *rg) finishStatus() int {
	if r.ended != nil {
		return r.p.Status(r.ended)
	}
	if r.walk.failed {
		r.failed = true
	}
	status := 1
	if r.matched {
		status = 0
	}
	if r.failed && (!r.quiet || !r.matched) {
		status = 2
	}
	if r.json != nil && !r.quiet {
		r.json.summary()
	}
	return r.out.Close(status)
}

// readsStdin tells whether standard input is a pipe or a file.
func (r *rg) readsStdin() bool {
	info, err := r.p.Stat("/dev/stdin")
	return err == nil && (info.Mode.IsRegular() || info.Mode.Type()&(1<<25) != 0)
}

// found searches a file of the walk.
func (r *rg) found(f sourceFile) bool {
	if f.err != nil {
		r.walk.failed = true
		if !r.noMessages {
			r.flush()
			fmt.Fprintf(r.p.Stderr, "%s: %s\n", f.path, rustError(f.path, f.err))
		}
		return true
	}
	if f.isDir {
		return true
	}
	if r.filesOnly {
		r.matched = true
		if !r.quiet {
			end := byte('\n')
			if r.nulNames {
				end = 0
			}
			_, _ = r.out.WriteString(f.path)
			_ = r.out.WriteByte(end)
		}
		return !r.out.failed() && !r.quiet
	}
	in, err := r.p.Open(f.path)
	if err != nil {
		r.walk.failed = true
		fmt.Fprintf(r.p.Stderr, "%s: %s\n", f.path, rustError(f.path, err))
		return true
	}
	defer in.Close()
	r.searchIn(f.path, in, f.explicit)
	return r.ended == nil && !r.over()
}

// rustError words an error as rg does.
func rustError(path string, err error) string {
	return fmt.Sprintf("IO error for operation on %s: %s (os error %d)", path, shell.Strerror(err), int(shell.Errno(err)))
}
