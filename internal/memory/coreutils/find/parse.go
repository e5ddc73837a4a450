package find

import (
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
)

// findKind is the kind of a word in an expression.
type findKind uint8

const (
	findPrimary findKind = iota
	findBinary
	findUnary
	findOpen
	findClose
)

// findNode is an operator, or a test or action with its arguments.
type findNode struct {
	kind   findKind
	text   string
	strong int // of a binary operator: 1 comma, 2 or, 3 and
	test   predicate
}

// findParser makes a predicate of an expression: first of each word, in order, then of
// the whole.
type findParser struct {
	*finder
	words   []string
	pos     int
	nodes   []findNode
	status  int
	failed  bool
	acts    bool // an action prints or runs something
	prunes  bool
	deep    bool // -depth was given
	last    string
	syntax  regex.Flags
	origin  time.Time // what days are counted from
	files0  *string
	at      int // in nodes
	nesting int
}

func newFindParser(f *finder, words []string) *findParser {
	return &findParser{finder: f, words: words, syntax: regex.Emacs, origin: f.now.Add(-day)}
}

const day = 24 * time.Hour

// fault reports a wrong expression.
func (p *findParser) fault(format string, args ...any) {
	if !p.failed {
		p.proc.Warn(format, args...)
	}
	p.failed, p.status = true, 1
}

// run returns false when find is to end here.
func (p *findParser) run() bool {
	for p.pos < len(p.words) && !p.failed {
		p.word()
	}
	if p.failed {
		return false
	}
	if p.deletes && p.prunes && !p.deep {
		p.fault("The -delete action automatically turns on -depth, but -prune does nothing when -depth is in effect.  " +
			"If you want to carry on anyway, just explicitly use the -depth option.")
		return false
	}
	if len(p.nodes) == 0 {
		p.test = p.printer(p.standardOutput(), "\n")
		return true
	}
	test := p.list(0)
	if p.failed {
		return false
	}
	if p.at < len(p.nodes) {
		p.fault("you have too many ')'")
		return false
	}
	if !p.acts {
		print := p.printer(p.standardOutput(), "\n")
		expr := test
		test = func(e *findEntry) bool { return expr(e) && !p.quit && print(e) }
	}
	p.test = test
	return true
}

// word reads one operator, or a test with its arguments.
func (p *findParser) word() {
	w := p.words[p.pos]
	p.pos++
	switch w {
	case "(":
		p.join()
		p.nodes = append(p.nodes, findNode{kind: findOpen, text: w})
		return
	case ")":
		p.nodes = append(p.nodes, findNode{kind: findClose, text: w})
		return
	case "!", "-not":
		p.join()
		p.nodes = append(p.nodes, findNode{kind: findUnary, text: w})
		return
	case "-a", "-and", "-o", "-or", ",":
		strong := map[string]int{"-a": 3, "-and": 3, "-o": 2, "-or": 2, ",": 1}[w]
		p.nodes = append(p.nodes, findNode{kind: findBinary, text: w, strong: strong})
		return
	}
	if len(w) < 2 || w[0] != '-' {
		p.fault("paths must precede expression: `%s'", w)
		if _, err := p.proc.Lstat(w); err == nil && patternTests[p.last] {
			p.proc.Warn("possible unquoted pattern after predicate `%s'?", p.last)
		}
		return
	}
	test := p.primary(w)
	if p.failed || test == nil {
		return
	}
	p.last = w
	p.join()
	p.nodes = append(p.nodes, findNode{kind: findPrimary, text: w, test: test})
}

// join puts in the "and" that need not be written.
func (p *findParser) join() {
	if n := len(p.nodes); n > 0 && (p.nodes[n-1].kind == findPrimary || p.nodes[n-1].kind == findClose) {
		p.nodes = append(p.nodes, findNode{kind: findBinary, text: "-a", strong: 3})
	}
}

// argument takes the argument of the test w.
func (p *findParser) argument(w string) (string, bool) {
	if p.pos >= len(p.words) {
		if strings.HasPrefix(w, "-newer") && len(w) == 8 {
			p.fault("The '%s' test needs an argument", w)
		} else {
			p.fault("missing argument to `%s'", w)
		}
		return "", false
	}
	p.pos++
	return p.words[p.pos-1], true
}

// nestingMax bounds parentheses and negations inside each other.
const nestingMax = 10_000

// list reads operators that bind stronger than level, and their operands.
func (p *findParser) list(level int) predicate {
	if p.nesting++; p.nesting > nestingMax {
		p.fault("invalid expression")
		return nil
	}
	defer func() { p.nesting-- }()
	left := p.operand()
	for !p.failed && p.at < len(p.nodes) {
		n := p.nodes[p.at]
		if n.kind != findBinary || n.strong <= level {
			break
		}
		p.at++
		if p.at >= len(p.nodes) {
			p.fault("expected an expression after '%s'", n.text)
			return nil
		}
		left = combine(n.strong, left, p.list(n.strong))
	}
	return left
}

func combine(strong int, a, b predicate) predicate {
	switch strong {
	case 3:
		return func(e *findEntry) bool { return a(e) && !e.finder.quit && b(e) }
	case 2:
		return func(e *findEntry) bool { return a(e) || !e.finder.quit && b(e) }
	}
	return func(e *findEntry) bool {
		a(e)
		return !e.finder.quit && b(e)
	}
}

// operand reads a test, a negation or parentheses.
func (p *findParser) operand() predicate {
	n := p.nodes[p.at]
	switch n.kind {
	case findBinary:
		p.fault("invalid expression; you have used a binary operator '%s' with nothing before it.", n.text)
		return nil
	case findClose:
		if p.at > 0 && (p.nodes[p.at-1].kind == findUnary || p.nodes[p.at-1].kind == findBinary) {
			p.fault("expected an expression between '%s' and ')'", p.nodes[p.at-1].text)
		} else {
			p.fault("invalid expression; you have too many ')'")
		}
		return nil
	case findUnary:
		p.at++
		if p.at >= len(p.nodes) {
			p.fault("expected an expression after '%s'", n.text)
			return nil
		}
		test := p.list(3)
		return func(e *findEntry) bool { return !test(e) }
	case findOpen:
		return p.parentheses(n.text)
	default:
		p.at++
		return n.test
	}
}

func (p *findParser) parentheses(text string) predicate {
	p.at++
	if p.at >= len(p.nodes) {
		p.fault("invalid expression; expected to find a ')' but didn't see one. Perhaps you need an extra predicate after '%s'", text)
		return nil
	}
	if p.nodes[p.at].kind == findClose {
		p.fault("invalid expression; empty parentheses are not allowed.")
		return nil
	}
	test := p.list(0)
	if p.failed {
		return nil
	}
	if p.at >= len(p.nodes) || p.nodes[p.at].kind != findClose {
		p.fault("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
		return nil
	}
	p.at++
	return test
}

func always(*findEntry) bool { return true }

// option reads the options within an expression, which are always true.
func (p *findParser) option(w string) (test predicate, ok bool) {
	switch w {
	case "-depth", "-d":
		p.depthFirst, p.deep = true, true
	case "-maxdepth", "-mindepth":
		p.warnGlobal(w)
		arg, ok := p.argument(w)
		if !ok {
			return nil, true
		}
		n, err := strconv.ParseUint(arg, 10, 31)
		if err != nil {
			p.fault("Expected a positive decimal integer argument to %s, but got %s", w, quoting.Name(arg))
			return nil, true
		}
		if w == "-maxdepth" {
			p.maxDepth = int(n)
		} else {
			p.minDepth = int(n)
		}
	case "-mount", "-xdev", "-noleaf", "-ignore_readdir_race", "-noignore_readdir_race":
	case "-warn":
		p.warnings = true
	case "-nowarn":
		p.warnings = false
	case "-follow":
		p.follow = 'L'
	case "-daystart":
		local := p.now.In(p.zone)
		p.origin = time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, p.zone)
	case "-regextype":
		arg, ok := p.argument(w)
		if ok {
			p.regexType(arg)
		}
	case "-files0-from":
		arg, ok := p.argument(w)
		if ok {
			p.files0 = &arg
		}
	default:
		return nil, false
	}
	return always, true
}

// warnGlobal says that the place of an option does not matter.
func (p *findParser) warnGlobal(w string) {
	if p.warnings && p.last != "" {
		p.proc.Warn("warning: you have specified the global option %[1]s after the argument %[2]s, but global options are not "+
			"positional, i.e., %[1]s affects tests specified before it as well as those specified after it.  "+
			"Please specify global options before other arguments.", w, p.last)
	}
}

// findRegexTypes are the names of -regextype in the order of its message.
var findRegexTypes = []choice.Choice[regex.Flags]{
	{Name: "findutils-default", Value: regex.Emacs},
	{Name: "ed", Value: 0},
	{Name: "emacs", Value: regex.Emacs},
	{Name: "gnu-awk", Value: regex.Extended},
	{Name: "grep", Value: regex.Grep},
	{Name: "posix-awk", Value: regex.Extended},
	{Name: "awk", Value: regex.Extended},
	{Name: "posix-basic", Value: 0},
	{Name: "posix-egrep", Value: regex.Extended | regex.Grep},
	{Name: "egrep", Value: regex.Extended | regex.Grep},
	{Name: "posix-extended", Value: regex.Extended},
	{Name: "posix-minimal-basic", Value: 0},
	{Name: "sed", Value: 0},
}

func (p *findParser) regexType(name string) {
	var names []string
	for _, t := range findRegexTypes {
		if t.Name == name {
			p.syntax = t.Value
			return
		}
		names = append(names, quoting.Name(t.Name))
	}
	p.fault("Unknown regular expression type %s; valid types are %s.", quoting.Name(name), strings.Join(names, ", "))
}
