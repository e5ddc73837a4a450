package shell

import (
	"strings"
	"unicode/utf8"
)

// patFlags say how a pattern is read.
type patFlags uint8

const (
	patExt      patFlags = 1 << iota // @(a|b) and its like count
	patFold                          // case does not count
	patPathname                      // a component of a path: a dot at the beginning must be matched by a dot
	patDot                           // with patPathname: it need not
	patBytes                         // characters are bytes: the locale is C
)

type patternKey struct {
	text  string
	flags patFlags
}

// pattern is a compiled pattern of the shell.
type pattern struct {
	nodes  []patNode
	lit    string // all of it, when isLit
	isLit  bool
	ext    bool // has extended patterns: only backtracking matches them
	fold   bool
	bytes  bool
	odd    bool // bash is wrong about how long the text is that it matches
	source string
}

type nodeKind uint8

const (
	nodeLit nodeKind = iota
	nodeAny
	nodeStar
	nodeClass
	nodeExt
)

// patNode matches one character, any number of them (star), or alternatives (ext).
type patNode struct {
	kind nodeKind
	r    rune // of a literal; a byte that is no UTF-8 is -1-byte
	set  *charClass
	op   byte // ? * + @ !
	alts []*pattern
}

// maxPatternDepth bounds parentheses inside each other.
const maxPatternDepth = 100

// compilePattern compiles the text, in which a backslash quotes. Every text is a pattern.
func compilePattern(text string, f patFlags) *pattern {
	return compilePatternDepth(text, f, 0)
}

func compilePatternDepth(text string, f patFlags, depth int) *pattern {
	p := &pattern{fold: f&patFold != 0, bytes: f&patBytes != 0, source: text}
	lit := make([]byte, 0, len(text))
	p.isLit = true
	in := newBrackets(text)
	for i := 0; i < len(text); {
		c := text[i]
		if f&patExt != 0 && depth < maxPatternDepth && i+1 < len(text) && text[i+1] == '(' && strings.IndexByte("?*+@!", c) >= 0 {
			if end := in.close(i + 1); end > 0 {
				p.nodes = append(p.nodes, patNode{kind: nodeExt, op: c, alts: alternatives(text[i+2:end], f, depth)})
				p.isLit, p.ext = false, true
				i = end + 1
				continue
			}
		}
		switch c {
		case '*':
			p.isLit = false
			if n := len(p.nodes); n == 0 || p.nodes[n-1].kind != nodeStar {
				p.nodes = append(p.nodes, patNode{kind: nodeStar})
			}
			i++
			continue
		case '?':
			p.isLit = false
			p.nodes = append(p.nodes, patNode{kind: nodeAny})
			i++
			continue
		case '[':
			if n := in.classLen(i); n > 0 {
				p.isLit = false
				// bash takes the first ] for the end when it counts what [^]] matches.
				p.odd = p.odd || n > 3 && (text[i+1] == '^' || text[i+1] == '!') && text[i+2] == ']'
				p.nodes = append(p.nodes, patNode{kind: nodeClass, set: parseClass(text[i:i+n], p.fold)})
				i += n
				continue
			}
		case '\\':
			if i++; i == len(text) { // a backslash at the end stands for itself
				i--
			}
		}
		r, n := p.decode(text[i:])
		lit = append(lit, text[i:i+n]...)
		p.nodes = append(p.nodes, patNode{kind: nodeLit, r: r})
		i += n
	}
	p.lit = string(lit)
	if p.fold {
		p.isLit = false
		for i := range p.nodes {
			p.nodes[i].r = foldRune(p.nodes[i].r)
		}
	}
	return p
}

// patternOf returns the compiled pattern of a text that was made at run time. When there is no memory for it, the
// command is over and what is returned matches nothing of use.
func (sh *interp) patternOf(text string, f patFlags) *pattern {
	if len(text) > lightText && (!sh.hold(patternWeight*len(text)) || !sh.spend(len(text)>>4)) {
		return &pattern{isLit: true}
	}
	return sh.m.lib.pattern(text, f)
}

// patternWeight is about how many bytes a byte of a pattern becomes.
const patternWeight = 64

// decodeRune returns the first character; a byte that is none is a negative number of its own.
func decodeRune(s string) (rune, int) {
	if c := s[0]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return -1 - rune(s[0]), 1
	}
	return r, n
}

// alternatives compiles what stands between | at the top.
func alternatives(s string, f patFlags, depth int) []*pattern {
	var list []*pattern
	start, level := 0, 0
	f &^= patPathname
	in := newBrackets(s)
	for i := 0; i <= len(s); i++ {
		if i == len(s) || s[i] == '|' && level == 0 {
			list = append(list, compilePatternDepth(s[start:i], f, depth+1))
			start = i + 1
			continue
		}
		switch s[i] {
		case '\\':
			i++
		case '[':
			if n := in.classLen(i); n > 0 {
				i += n - 1
			}
		case '(':
			level++
		case ')':
			level--
		}
	}
	return list
}

// matchOne tells whether the node, which takes one character, takes r.
func (n *patNode) matchOne(r rune, fold bool) bool {
	if fold {
		r = foldRune(r)
	}
	switch n.kind {
	case nodeLit:
		return n.r == r
	case nodeAny:
		return true
	case nodeClass:
		return n.set.has(r)
	default:
	}
	return false
}
