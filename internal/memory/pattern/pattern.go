// Package pattern matches the patterns of the shell: those of case, ${x#y} and file names.
package pattern

import (
	"strings"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/char"
)

// Flags say how a text is compiled.
type Flags uint8

// The flags.
const (
	Ext      Flags = 1 << iota // extended patterns such as @(a|b), as under extglob
	Fold                       // upper and lower case are the same
	Pathname                   // a component of a path: a dot at the beginning must be matched by a dot
	Dot                        // with Pathname: it need not
	Bytes                      // characters are bytes: the locale is C
)

// Pattern is a compiled pattern. It never changes and is safe for concurrent use.
type Pattern struct {
	nodes  []node
	lit    string // all of it, when isLit
	isLit  bool
	ext    bool // has extended patterns: only backtracking matches them
	fold   bool
	bytes  bool
	odd    bool // bash computes a wrong length for the text that it matches
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

// node matches one character, any number of them (star), or alternatives (ext).
type node struct {
	kind nodeKind
	r    rune // of a literal; a byte that is not UTF-8 is -1-byte
	set  *class
	op   byte // ? * + @ !
	alts []*Pattern
}

// maxDepth bounds nested parentheses.
const maxDepth = 100

// Compile compiles the text, in which a backslash quotes. Every text is a pattern.
func Compile(text string, f Flags) *Pattern {
	return compileAt(text, f, 0)
}

// Literal returns a pattern that matches only the text itself.
func Literal(text string) *Pattern { return &Pattern{isLit: true, lit: text, source: text} }

// Source returns the text that the pattern was compiled from.
func (p *Pattern) Source() string { return p.source }

// compileAt is Compile at a depth of nested parentheses.
func compileAt(text string, f Flags, depth int) *Pattern {
	p := &Pattern{fold: f&Fold != 0, bytes: f&Bytes != 0, source: text}
	lit := make([]byte, 0, len(text))
	p.isLit = true
	in := newBrackets(text)
	for i := 0; i < len(text); {
		c := text[i]
		if f&Ext != 0 && depth < maxDepth && i+1 < len(text) && text[i+1] == '(' && strings.IndexByte("?*+@!", c) >= 0 {
			if end := in.close(i + 1); end > 0 {
				p.nodes = append(p.nodes, node{kind: nodeExt, op: c, alts: alternatives(text[i+2:end], f, depth)})
				p.isLit, p.ext = false, true
				i = end + 1
				continue
			}
		}
		switch c {
		case '*':
			p.isLit = false
			if n := len(p.nodes); n == 0 || p.nodes[n-1].kind != nodeStar {
				p.nodes = append(p.nodes, node{kind: nodeStar})
			}
			i++
			continue
		case '?':
			p.isLit = false
			p.nodes = append(p.nodes, node{kind: nodeAny})
			i++
			continue
		case '[':
			if n := in.classLen(i); n > 0 {
				p.isLit = false
				// bash takes the first ] for the end when it counts what [^]] matches.
				p.odd = p.odd || n > 3 && (text[i+1] == '^' || text[i+1] == '!') && text[i+2] == ']'
				p.nodes = append(p.nodes, node{kind: nodeClass, set: parseClass(text[i:i+n], p.fold)})
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
		p.nodes = append(p.nodes, node{kind: nodeLit, r: r})
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

// alternatives compiles the branches between | at the top level.
func alternatives(s string, f Flags, depth int) []*Pattern {
	var list []*Pattern
	start, level := 0, 0
	f &^= Pathname
	in := newBrackets(s)
	for i := 0; i <= len(s); i++ {
		if i == len(s) || s[i] == '|' && level == 0 {
			list = append(list, compileAt(s[start:i], f, depth+1))
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

// matchesOne reports whether the node, which takes one character, takes r.
func (n *node) matchesOne(r rune, fold bool) bool {
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

// decode returns the first character in the pattern's locale.
func (p *Pattern) decode(s string) (rune, int) {
	if p.bytes && s[0] >= utf8.RuneSelf {
		return -1 - rune(s[0]), 1
	}
	return char.Decode(s)
}

// lastWidth returns the length of the last character in bytes; a byte that is not UTF-8 has length 1.
func (p *Pattern) lastWidth(s string) int {
	if s[len(s)-1] < utf8.RuneSelf || p.bytes {
		return 1
	}
	_, n := utf8.DecodeLastRuneInString(s)
	return n
}
