package grep

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sourcetree"
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// rgStdin is the name of standard input.
const rgStdin = "<stdin>"

// rg is a run of rg: a walk over directories, and grep's search in their files.
type rg struct {
	*grep
	walk      *sourcetree.Walk
	smart     bool
	fixed     bool
	replace   string
	replaces  bool
	filesOnly bool
	heading   int // as names
	numbers   int
	types     *sourcetree.FileTypes
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
	r := &rg{grep: newGrep(p), walk: sourcetree.NewWalk(p, ".rgignore"), types: sourcetree.NewFileTypes()}
	r.bytes, r.label = true, rgStdin
	o := program.NewOptions(p, rgCommand, rgOptions)
	o.Wrong = 2
	for o.Next() {
		if r.option(o); r.failed {
			return 2
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if r.types.List {
		return r.types.Write(r.out)
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
		if r.addPatterns(operands[0]) {
			return 2
		}
		operands = operands[1:]
	}
	if err := r.types.Settle(); err != "" {
		fmt.Fprintf(p.Stderr, "%s\n", err)
		return 2
	}
	r.walk.Types = r.types
	if !r.filesOnly && !r.prepare() {
		return 2
	}
	return r.search(operands)
}

// prepare compiles the patterns.
func (r *rg) prepare() bool {
	if r.smart {
		r.fold = !sourcetree.HasUpper(r.patterns)
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
	if !r.multiline && hasNewline(pattern, r.fixed) {
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
	if err := chargePatterns(r.p, r.patterns); err != nil {
		fmt.Fprintf(r.p.Stderr, "rg: memory exhausted\n")
		return false
	}
	re, err := regex.CompileAll(patterns, flags)
	if err != nil {
		fmt.Fprintf(r.p.Stderr, "regex parse error:\n    %s\nerror: %s\n", pattern, program.RegexError(err))
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

// settleJSON reports whether --json goes with the other options.
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

// hasNewline reports whether an expression contains a newline, which no line does.
func hasNewline(pattern string, fixed bool) bool {
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

// search goes over the operands and returns the exit status.
func (r *rg) search(operands []string) int {
	stdin := len(operands) == 0 && !r.filesOnly && r.isStdinReadable()
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
	terminal := program.IsTerminal(r.p.Stdout)
	r.showNames = r.names > 0 || r.names == 0 && several
	r.number = r.numbers > 0 || r.numbers == 0 && (terminal && !stdin || r.json != nil)
	if r.heading > 0 || r.heading == 0 && terminal {
		r.withHeading = r.showNames
	}
	for _, name := range operands {
		if r.ended != nil || r.isOver() || r.filesOnly && r.quiet && r.matched {
			break
		}
		if name == "-" {
			r.searchIn(r.label, r.p.Stdin, true)
			continue
		}
		err := r.walk.Run(name, dot, r.found)
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
	if r.walk.Failed {
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

// isStdinReadable reports whether standard input is a pipe or a file.
func (r *rg) isStdinReadable() bool {
	info, err := r.p.Stat("/dev/stdin")
	return err == nil && (info.Mode.IsRegular() || info.Mode.Type()&(1<<25) != 0)
}

// found searches a file of the walk.
func (r *rg) found(f sourcetree.File) bool {
	if f.Err != nil {
		r.walk.Failed = true
		if !r.noMessages {
			r.flush()
			fmt.Fprintf(r.p.Stderr, "%s: %s\n", f.Path, rustError(f.Path, f.Err))
		}
		return true
	}
	if f.IsDir {
		return true
	}
	if r.filesOnly {
		r.matched = true
		if !r.quiet {
			end := byte('\n')
			if r.nulNames {
				end = 0
			}
			_, _ = r.out.WriteString(f.Path)
			_ = r.out.WriteByte(end)
		}
		return !r.out.HasFailed() && !r.quiet
	}
	in, err := r.p.Open(f.Path)
	if err != nil {
		r.walk.Failed = true
		fmt.Fprintf(r.p.Stderr, "%s: %s\n", f.Path, rustError(f.Path, err))
		return true
	}
	defer in.Close()
	r.searchIn(f.Path, in, f.Explicit)
	return r.ended == nil && !r.isOver()
}

// rustError words an error as rg does.
func rustError(path string, err error) string {
	return fmt.Sprintf("IO error for operation on %s: %s (os error %d)", path, shell.Strerror(err), int(shell.Errno(err)))
}
