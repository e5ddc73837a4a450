package regex

import (
	"slices"
	"unicode/utf8"
)

// tree is an expression that has been read.
type tree struct {
	root   *node
	groups int
	names  []string
	backs  bool // it has back-references
	perl   bool // it has what only backtracking can do

	warnings []string
}

// maxDepth bounds the nesting of an expression, and by that our own stack.
const maxDepth = 5000

// maxParts and maxRanges bound the memory that a tree takes: the number of its parts, and of the ends of ranges in
// all its sets of characters.
const maxParts, maxRanges = maxInsts, 1 << 21

// size counts what the expressions of a tree consist of.
type size struct{ parts, ranges, stacked int }

// add counts a part; false: the expressions are too big.
func (s *size) add(n *node) bool {
	s.parts++
	if n != nil && n.kind == kindRepeat {
		n = n.left
	}
	if n != nil && n.kind == kindClass {
		s.ranges += len(n.set.ranges)
	}
	return s.parts <= maxParts && s.ranges <= maxRanges
}

// stack counts a repetition of a repetition, which nests without parentheses; false: there are too many.
func (s *size) stack() bool {
	s.stacked++
	return s.stacked <= maxDepth
}

// maxRepeat is RE_DUP_MAX.
const maxRepeat = 0x7fff

// parser reads one POSIX expression.
type parser struct {
	src    string
	pos    int
	flags  Flags
	syn    syntax
	tok    lexeme
	groups int
	first  int    // groups before this expression's
	done   uint32 // which of the first nine groups are complete
	depth  int
	size   *size
	backs  bool

	warnings []string
}

// parseAll reads expressions and joins them.
func parseAll(patterns []string, flags Flags) (*tree, error) {
	if flags&Literal != 0 {
		root, err := literals(patterns, flags)
		if err != nil {
			return nil, err
		}
		return &tree{root: addAssertions(root, flags)}, nil
	}
	all, total := &tree{root: &node{kind: kindFail}}, &size{}
	for i, pattern := range patterns {
		one, err := parseOne(pattern, flags, all.groups, total)
		if err != nil {
			return nil, err
		}
		all.groups, all.names = one.groups, append(all.names, one.names...)
		all.backs, all.perl = all.backs || one.backs, all.perl || one.perl
		all.warnings = append(all.warnings, one.warnings...)
		if i == 0 {
			all.root = one.root
		} else {
			all.root = alternative(all.root, one.root, flags)
		}
	}
	all.root = addAssertions(all.root, flags)
	return all, nil
}

// alternative joins two branches. The C library tries an empty left branch last.
func alternative(left, right *node, flags Flags) *node {
	if left == nil && flags&Perl == 0 {
		left, right = right, left
	}
	return &node{kind: kindAlt, left: left, right: right}
}

func parseOne(pattern string, flags Flags, groups int, total *size) (*tree, error) {
	if flags&Perl != 0 {
		return parsePerl(pattern, flags, groups, total)
	}
	p := &parser{src: pattern, flags: flags, syn: syntaxOf(flags), groups: groups, first: groups, size: total}
	p.next(caretAnchorsHere)
	root, err := p.regexp(0)
	if err != nil {
		return nil, err
	}
	return &tree{root: root, groups: p.groups, backs: p.backs, warnings: p.warnings}, nil
}

// addAssertions adds the assertions of WholeLine and WholeWord.
func addAssertions(root *node, flags Flags) *node {
	before, behind := lineStart, lineEnd
	switch {
	case flags&WholeLine != 0:
	case flags&WholeWord != 0:
		before, behind = notWordBefore, notWordBehind
	default:
		return root
	}
	return concat(concat(&node{kind: kindAssert, n: int(before)}, root), &node{kind: kindAssert, n: int(behind)})
}

func (p *parser) fail(text string) error { return &Error{Text: text, Offset: p.pos} }

// char returns the character at i; see decode.
func (p *parser) char(i int) (rune, int) {
	if p.flags&Bytes != 0 {
		return rune(p.src[i]), 1
	}
	r, n := utf8.DecodeRuneInString(p.src[i:])
	if r == utf8.RuneError && n == 1 {
		return strayByte + rune(p.src[i]), 1
	}
	return r, n
}

// next goes to the next token.
func (p *parser) next(extra syntax) {
	p.pos += p.tok.width
	p.tok = p.peek(p.syn | extra)
}

// regexp reads branches up to the end or to a ) when nested.
func (p *parser) regexp(nest int) (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(errSize)
	}
	defer func() { p.depth-- }()
	done := p.done
	all, err := p.branch(nest)
	if err != nil {
		return nil, err
	}
	for p.tok.token == tokenAlt {
		p.next(caretAnchorsHere)
		var right *node
		if !p.branchEnds(nest) {
			// A branch cannot refer to groups of the one before it.
			sofar := p.done
			p.done = done
			if right, err = p.branch(nest); err != nil {
				return nil, err
			}
			p.done |= sofar
		}
		if all = alternative(all, right, p.flags); !p.size.add(nil) {
			return nil, p.fail(errSize)
		}
	}
	return all, nil
}

func (p *parser) branchEnds(nest int) bool {
	return p.tok.token == tokenAlt || p.tok.token == tokenEnd || nest > 0 && p.tok.token == tokenClose
}

func (p *parser) branch(nest int) (*node, error) {
	parts := []*node(nil)
	for first := true; first || !p.branchEnds(nest); first = false {
		n, err := p.expression(nest)
		if err != nil {
			return nil, err
		}
		if !p.size.add(n) {
			return nil, p.fail(errSize)
		}
		if n != nil {
			parts = append(parts, n)
		}
	}
	// Right-leaning, so that a long text does not nest from the left.
	var all *node
	for _, part := range slices.Backward(parts) {
		all = concat(part, all)
	}
	return all, nil
}

// expression reads one character, class, group or anchor and its repetition.
func (p *parser) expression(nest int) (*node, error) {
	for {
		again, err := p.leading()
		if err != nil {
			return nil, err
		}
		if !again {
			break
		}
	}
	if p.tok.token == tokenAlt || p.tok.token == tokenEnd {
		return nil, nil
	}
	n, err := p.atom(nest)
	if err != nil || n != nil && n.kind == kindAssert && p.syn&repeatAnchors == 0 {
		return n, err
	}
	if n != nil && n.kind == kindAssert && p.tok.token >= tokenStar && p.tok.token <= tokenOpenBrace {
		p.warn()
	}
	return p.repeats(n)
}

// leading checks the token at the beginning of an expression. True: it was a repetition of nothing, which is left out.
func (p *parser) leading() (again bool, err error) {
	switch p.tok.token {
	case tokenBackslash:
		return false, p.fail(errEscape)
	case tokenOpenBrace, tokenStar, tokenPlus, tokenQuestion:
		if err := p.misplaced(); err != nil {
			return false, err
		}
		if p.syn&contextIndepOps != 0 {
			p.warn()
			p.next(0)
			return true, nil
		}
	case tokenClose:
		if p.syn&unmatchedRParenOrd == 0 {
			if p.flags&(Sed|Grep|Expr) == 0 {
				// regcomp(3) has one error for both parentheses.
				return false, p.fail(errParen)
			}
			return false, p.fail(errRParen)
		}
	default:
	}
	return false, nil
}

// warn notes a repetition of nothing; grep says so.
func (p *parser) warn() {
	what := "{...}"
	if p.tok.token != tokenOpenBrace {
		what = string(p.tok.r)
	}
	p.warnings = append(p.warnings, what+" at start of expression")
}

func (p *parser) misplaced() error {
	if p.tok.token == tokenOpenBrace && p.syn&contextInvalidDup != 0 {
		return p.fail(errRepeat)
	}
	if p.syn&contextInvalidOps != 0 && p.syn&contextInvalidDup == 0 {
		return p.fail(errRepeat)
	}
	return nil
}

func (p *parser) atom(nest int) (*node, error) {
	tok := p.tok
	switch tok.token {
	case tokenOpen:
		return p.group(nest)
	case tokenBracket:
		return p.bracket()
	case tokenAnchor:
		p.next(0)
		return &node{kind: kindAssert, n: int(tok.as)}, nil
	case tokenBack:
		if p.done&(1<<tok.r) == 0 {
			return nil, p.fail(errSubreg)
		}
		p.backs = true
		p.next(0)
		return &node{kind: kindBack, n: p.first + int(tok.r), fold: p.flags&IgnoreCase != 0}, nil
	case tokenDot:
		p.next(0)
		return p.class(&set{}, true), nil
	case tokenClass:
		p.next(0)
		return p.escapedClass(tok.r), nil
	default:
	}
	p.next(0)
	return p.class(&set{ranges: []rune{tok.r, tok.r}}, false), nil
}

func (p *parser) group(nest int) (*node, error) {
	p.groups++
	number := p.groups
	p.next(caretAnchorsHere)
	var inner *node
	if p.tok.token != tokenClose {
		var err error
		if inner, err = p.regexp(nest + 1); err != nil {
			return nil, err
		}
		if p.tok.token != tokenClose {
			return nil, p.fail(errParen)
		}
	}
	if own := number - p.first; own <= 9 {
		p.done |= 1 << own
	}
	p.next(0)
	return &node{kind: kindGroup, left: inner, n: number}, nil
}

func (p *parser) escapedClass(letter rune) *node {
	name := "word"
	if letter == 's' || letter == 'S' {
		name = "space"
	}
	s := &set{}
	s.addSet(ctype(name, p.flags&Bytes != 0))
	return p.class(s, letter == 'W' || letter == 'S')
}

// class makes a node of a set, which it takes over: without regard to case, negated, and without
// newlines, as it has to be.
func (p *parser) class(s *set, negated bool) *node {
	return classNode(s, negated, p.flags)
}

func classNode(s *set, negated bool, flags Flags) *node {
	s.normalize()
	if flags&IgnoreCase != 0 {
		s.fold(flags&Bytes != 0)
	}
	if negated {
		s.negate(flags&Bytes != 0)
		if flags&Bytes == 0 {
			s = s.without(0xD800, 0xDFFF)
		}
	}
	end := lineEndOf(flags)
	if flags&Sed != 0 {
		end = '\n' // sed -z looks for anchors at NUL, yet keeps "." from newlines.
	}
	if flags&NoNewline != 0 && s.has(end) {
		if _, alone := s.single(); !alone {
			s = s.without(end, end)
		}
	}
	return &node{kind: kindClass, set: s}
}

// lineEndOf returns the character that ends a line.
func lineEndOf(flags Flags) rune {
	if flags&NulLines != 0 {
		return 0
	}
	return '\n'
}

// literals makes a tree of texts that stand for themselves; common beginnings are shared so that
// thousands of words cost as much as their letters.
func literals(words []string, flags Flags) (*node, error) {
	var chars [][]rune
	for _, w := range words {
		p := &parser{src: w, flags: flags}
		var word []rune
		for i := 0; i < len(w); {
			r, n := p.char(i)
			word = append(word, r)
			i += n
		}
		chars = append(chars, word)
	}
	if len(chars) == 0 {
		return &node{kind: kindFail}, nil
	}
	t, nodes := &wordTree{}, 0
	for _, w := range chars {
		if nodes += t.insert(w); nodes > maxParts {
			return nil, &Error{Text: errSize}
		}
	}
	return t.node(flags), nil
}

// wordTree is a set of words by their first characters. A word goes right, not down.
type wordTree struct {
	ends     bool
	keys     []rune
	children map[rune]*wordTree
}

// insert adds a word and returns the number of new nodes.
func (t *wordTree) insert(word []rune) (nodes int) {
	for _, r := range word {
		child := t.children[r]
		if child == nil {
			child = &wordTree{}
			if t.children == nil {
				t.children = map[rune]*wordTree{}
			}
			t.children[r] = child
			t.keys = append(t.keys, r)
			nodes++
		}
		t = child
	}
	t.ends = true
	return nodes
}

// node makes the tree of nodes; straight lines are followed without recursion.
func (t *wordTree) node(flags Flags) *node {
	var line []*node
	for len(t.keys) == 1 && !t.ends {
		line = append(line, classNode(&set{ranges: []rune{t.keys[0], t.keys[0]}}, false, flags))
		t = t.children[t.keys[0]]
	}
	var all *node
	for _, r := range slices.Backward(t.keys) {

		branch := concat(classNode(&set{ranges: []rune{r, r}}, false, flags), t.children[r].node(flags))
		if all == nil {
			all = branch
		} else {
			all = &node{kind: kindAlt, left: branch, right: all}
		}
	}
	if t.ends && all != nil {
		all = &node{kind: kindAlt, left: all}
	}
	for _, l := range slices.Backward(line) {
		all = concat(l, all)
	}
	return all
}
