package regex

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The texts are those of PCRE2.
const (
	perlEnd        = `\ at end of pattern`
	perlControl    = `\c at end of pattern`
	perlEscape     = `unrecognized character follows \`
	perlOrder      = "numbers out of order in {} quantifier"
	perlBig        = "number too big in {} quantifier"
	perlClassEnd   = "missing terminating ] for character class"
	perlRange      = "range out of order in character class"
	perlBadRange   = "invalid range in character class"
	perlRepeat     = "quantifier does not follow a repeatable item"
	perlGroup      = "unrecognized character after (? or (?-"
	perlOpen       = "missing closing parenthesis"
	perlClose      = "unmatched closing parenthesis"
	perlReference  = "reference to non-existent subpattern"
	perlComment    = "missing ) after (?# comment"
	perlPosix      = "unknown POSIX class name"
	perlBehind     = "lookbehind assertion is not fixed length"
	perlName       = "syntax error in subpattern name (missing terminator?)"
	perlNames      = "too many named subpatterns (maximum 10000)"
	perlTwice      = "two named subpatterns have the same name (PCRE2_DUPNAMES not set)"
	perlKName      = `\k is not followed by a braced, angle-bracketed, or quoted name`
	perlG          = `a numbered reference must not be zero`
	perlGSyntax    = `\g is not followed by a braced, angle-bracketed, or quoted name/number or by a plain number`
	perlProperty   = `unknown property after \P or \p`
	perlMalformed  = `malformed \P or \p sequence`
	perlTooLarge   = `character code point value in \x{} or \o{} is too large`
	perlBrace      = `missing terminating } or non-hex character in \x{} (or non-octal in \o{})`
	perlCondition  = "conditional subpattern contains more than two branches"
	perlBadCond    = "malformed number or name after (?("
	perlRecursion  = "recursion into a group is not supported"
	perlKeep       = `\K is not allowed in lookarounds (but see PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK)`
	perlVerb       = "backtracking verbs are not supported"
	perlRegexLarge = "regular expression is too large"
)

// perlParser reads one expression of Perl's.
type perlParser struct {
	src    string
	pos    int
	flags  Flags
	opts   perlOptions
	groups int
	first  int
	names  []string
	named  int // groups with a name
	depth  int
	size   *size
	looks  int // look-around that we are inside of
	tree   *tree

	// References are checked at the end: they may lead forward.
	refs  []reference
	quote bool // inside \Q...\E
}

// perlOptions are those that (?imsx) sets.
type perlOptions struct {
	fold, multiline, dotAll, extended, noCapture bool
}

// reference is a back-reference that is not resolved yet.
type reference struct {
	node *node
	name string // empty for one by number
	at   int
}

func parsePerl(pattern string, flags Flags, groups int, total *size) (*tree, error) {
	p := &perlParser{src: pattern, flags: flags, groups: groups, first: groups, size: total, tree: &tree{perl: false}}
	p.opts = perlOptions{fold: flags&IgnoreCase != 0, multiline: flags&Multiline != 0}
	p.names = make([]string, groups+1)
	p.verbs()
	root, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if p.pos < len(p.src) {
		return nil, p.fail(perlClose)
	}
	for _, ref := range p.refs {
		if err := p.resolve(ref); err != nil {
			return nil, err
		}
	}
	p.tree.root, p.tree.groups, p.tree.names = root, p.groups, p.names[groups+1:]
	return p.tree, nil
}

func (p *perlParser) fail(text string) error { return &Error{Text: text, Offset: p.pos} }

// verbs skips settings at the beginning that change nothing here.
func (p *perlParser) verbs() {
	known := []string{"(*UTF8)", "(*UTF)", "(*NO_JIT)", "(*NO_START_OPT)", "(*NO_AUTO_POSSESS)", "(*LF)", "(*ANYCRLF)"}
	for more := true; more; {
		more = slices.ContainsFunc(known, p.accept)
	}
}

func (p *perlParser) resolve(ref reference) error {
	if ref.name != "" {
		for i, name := range p.names {
			if name == ref.name {
				ref.node.n = i
				return nil
			}
		}
		return &Error{Text: perlReference, Offset: ref.at}
	}
	if ref.node.n < 1 || ref.node.n > p.groups-p.first {
		return &Error{Text: perlReference, Offset: ref.at}
	}
	ref.node.n += p.first
	return nil
}

func (p *perlParser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *perlParser) accept(s string) bool {
	if strings.HasPrefix(p.src[p.pos:], s) {
		p.pos += len(s)
		return true
	}
	return false
}

// char takes a character.
func (p *perlParser) char() rune {
	if p.flags&Bytes != 0 {
		p.pos++
		return rune(p.src[p.pos-1])
	}
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	if r == utf8.RuneError && n == 1 {
		r = strayByte + rune(p.src[p.pos])
	}
	p.pos += n
	return r
}

// alternatives reads branches up to the end or a closing parenthesis, which stays. Options that
// a branch sets hold in those behind it.
func (p *perlParser) alternatives() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(perlRegexLarge)
	}
	defer func() { p.depth-- }()
	branches, err := p.branches(false)
	if err != nil {
		return nil, err
	}
	return joinBranches(branches), nil
}

func joinBranches(branches []*node) *node {
	all := branches[len(branches)-1]
	for i := len(branches) - 2; i >= 0; i-- {
		all = &node{kind: kindAlt, left: branches[i], right: all}
	}
	return all
}

// branches reads the branches of a group; with again each begins with the same group number.
func (p *perlParser) branches(again bool) ([]*node, error) {
	from, most := p.groups, p.groups
	var branches []*node
	for {
		n, err := p.sequence()
		if err != nil {
			return nil, err
		}
		if branches = append(branches, n); !p.size.add(nil) {
			return nil, p.fail(perlRegexLarge)
		}
		most = max(most, p.groups)
		if p.quote || !p.accept("|") {
			p.groups = most
			return branches, nil
		}
		if again {
			p.groups = from
		}
	}
}

func (p *perlParser) sequence() (*node, error) {
	var parts []*node
	for p.pos < len(p.src) {
		if p.quote {
			if p.accept(`\E`) {
				p.quote = false
				continue
			}
		} else {
			if c := p.peek(); c == '|' || c == ')' {
				break
			}
			if p.ignored() {
				continue
			}
		}
		n, repeatable, err := p.item()
		if err == nil {
			n, err = p.quantified(n, repeatable)
		}
		if err != nil {
			return nil, err
		}
		if !p.size.add(n) {
			return nil, p.fail(perlRegexLarge)
		}
		if n != nil {
			parts = append(parts, n)
		}
	}
	var all *node
	for _, part := range slices.Backward(parts) {
		all = concat(part, all)
	}
	return all, nil
}

// ignored skips comments, space under (?x), and the marks of quoted text.
func (p *perlParser) ignored() bool {
	switch {
	case p.accept(`\Q`):
		p.quote = true
	case p.accept(`\E`):
	case p.opts.extended && strings.IndexByte(" \t\n\v\f\r", p.peek()) >= 0:
		p.pos++
	case p.opts.extended && p.peek() == '#':
		if n := strings.IndexByte(p.src[p.pos:], '\n'); n >= 0 {
			p.pos += n + 1
		} else {
			p.pos = len(p.src)
		}
	default:
		return false
	}
	return true
}

// item reads one element, which a quantifier may or may not follow.
func (p *perlParser) item() (n *node, repeatable bool, err error) {
	if p.quote {
		return p.one(p.char()), true, nil
	}
	switch c := p.peek(); c {
	case '(':
		return p.group()
	case '[':
		n, err = p.class()
		return n, true, err
	case '\\':
		return p.escape()
	case '.':
		p.pos++
		return p.dot(), true, nil
	case '^':
		p.pos++
		return p.assertLine(lineStart, textStart), false, nil
	case '$':
		p.pos++
		return p.assertLine(lineEnd, lastLineEnd), false, nil
	case '*', '+', '?':
		return nil, false, p.fail(perlRepeat)
	case '{':
		if _, _, ok, err := p.interval(); ok || err != nil {
			if err == nil {
				err = p.fail(perlRepeat)
			}
			return nil, false, err
		}
	}
	return p.one(p.char()), true, nil
}

func (p *perlParser) assertLine(line, text assertion) *node {
	a := text
	if p.opts.multiline {
		a = line
	}
	if a == lastLineEnd {
		return p.placeEnd()
	}
	return &node{kind: kindAssert, n: int(a)}
}

// placeEnd is \Z. Only backtracking can match it when lines include their ends.
func (p *perlParser) placeEnd() *node {
	if p.flags&NoNewline != 0 {
		return &node{kind: kindAssert, n: int(lineEnd)}
	}
	p.tree.perl = true
	return &node{kind: kindAssert, n: int(lastLineEnd)}
}

// own returns the flags for a character here.
func (p *perlParser) own() Flags {
	f := p.flags &^ IgnoreCase
	if p.opts.fold {
		f |= IgnoreCase
	}
	return f
}

func (p *perlParser) one(r rune) *node {
	return classNode(&set{ranges: []rune{r, r}}, false, p.own())
}

func (p *perlParser) dot() *node {
	if p.opts.dotAll {
		return classNode(&set{}, true, p.flags)
	}
	return classNode(&set{ranges: []rune{'\n', '\n'}}, true, p.flags)
}

// quantified reads a quantifier behind n.
func (p *perlParser) quantified(n *node, repeatable bool) (*node, error) {
	if p.accept(`\E`) {
		p.quote = false
	}
	for !p.quote && p.opts.extended && p.ignored() {
	}
	if p.quote {
		return n, nil
	}
	lo, hi, ok, err := p.quantifier()
	if err != nil || !ok {
		return n, err
	}
	if !repeatable {
		return nil, p.fail(perlRepeat)
	}
	q := &node{kind: kindRepeat, left: n, min: lo, max: hi}
	switch {
	case p.accept("?"):
		q.lazy = true
	case p.accept("+"):
		q.possessive = true
		p.tree.perl = true
	}
	if _, _, again, _ := p.quantifier(); again {
		return nil, p.fail(perlRepeat)
	}
	if n == nil || hi == 0 {
		return nil, nil
	}
	return q, nil
}

func (p *perlParser) quantifier() (lo, hi int, ok bool, err error) {
	switch {
	case p.accept("*"):
		return 0, -1, true, nil
	case p.accept("+"):
		return 1, -1, true, nil
	case p.accept("?"):
		return 0, 1, true, nil
	case p.peek() == '{':
		return p.interval()
	}
	return 0, 0, false, nil
}

// interval reads {n}, {n,} or {n,m}; anything else behind a brace is a text.
func (p *perlParser) interval() (lo, hi int, ok bool, err error) {
	rest := p.src[p.pos+1:]
	body, _, found := strings.Cut(rest, "}")
	low, high, two := strings.Cut(body, ",")
	if !found || !isDigits(low) || two && high != "" && !isDigits(high) {
		return 0, 0, false, nil
	}
	lo, hi = decimal(low), -1
	switch {
	case !two:
		hi = lo
	case high != "":
		hi = decimal(high)
	}
	if lo > 65535 || hi > 65535 {
		return 0, 0, false, p.fail(perlBig)
	}
	if hi >= 0 && hi < lo {
		return 0, 0, false, p.fail(perlOrder)
	}
	p.pos += len(body) + 2
	return lo, hi, true, nil
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// decimal returns the number; a number beyond all limits stays beyond them.
func decimal(s string) int {
	n := 0
	for _, c := range []byte(s) {
		n = min(10*n+int(c-'0'), 1<<20)
	}
	return n
}
