package shell

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// word is a compiled word.
type word struct {
	parts    []wpart
	constant bool     // lit is all that it ever expands to
	lit      string   // of a constant
	text     string   // as written
	simple   *varPart // the word is just "$x"
	braces   bool     // it has brace expansions
	plain    []wpart  // the parts without them, for set +B
	bare     *varPart // the word is just $x
}

// wordKind is where a word stands.
type wordKind uint8

const (
	wordArg    wordKind = iota // an argument: braces, tildes
	wordAssign                 // the value of an assignment: tildes behind : too
	wordText                   // nothing special at its beginning
	wordTilde                  // a tilde at its beginning, no braces
)

// wpart is a compiled part of a word.
type wpart interface {
	// expand adds the part to f; quoted says that it stands in double quotes.
	expand(f *fields, quoted bool)
}

// compiler turns trees into closures.
type compiler struct {
	lib      *library
	inAssign bool                     // the word is the value of an assignment
	lone     map[*syntax.Command]bool // see alone
}

// word compiles a word.
func (c *compiler) word(w *syntax.Word, kind wordKind) *word {
	out := &word{text: w.Text}
	before := c.inAssign
	c.inAssign = kind == wordAssign || c.inAssign && kind == wordTilde
	defer func() { c.inAssign = before }()
	list := w.Parts
	if kind == wordArg && hasBraces(list) { // Braces come before tildes.
		if tree, ok := c.braces(list); ok {
			out.braces, out.parts = true, tree
			out.plain = c.parts(tildes(list, false, true))
			return out
		}
	}
	if kind == wordAssign || kind == wordTilde || kind == wordArg {
		list = tildes(list, kind == wordAssign, kind == wordArg)
	}
	out.parts = c.parts(list)
	c.classify(out, kind)
	return out
}

// classify finds the words that need no builder.
func (c *compiler) classify(w *word, kind wordKind) {
	if len(w.parts) == 1 {
		switch p := w.parts[0].(type) {
		case *dqPart:
			if len(p.parts) == 1 {
				if v, ok := p.parts[0].(*varPart); ok {
					w.simple = v
				}
			}
		case *varPart:
			if kind == wordArg {
				w.bare = p
			} else {
				w.simple = p
			}
		}
	}
	var b strings.Builder
	for _, p := range w.parts {
		switch p := p.(type) {
		case *litPart:
			if kind == wordArg && strings.ContainsAny(p.s, "*?[") {
				return
			}
			b.WriteString(p.s)
		case *quotedPart:
			b.WriteString(p.s)
		case *dqPart:
			if len(p.parts) > 1 {
				return
			}
			for _, q := range p.parts {
				switch q := q.(type) {
				case *litPart:
					b.WriteString(q.s)
				case *quotedPart:
					b.WriteString(q.s)
				default:
					return
				}
			}
		default:
			return
		}
	}
	if len(w.parts) == 0 && kind == wordArg {
		return
	}
	w.constant, w.lit = true, b.String()
}

// parts compiles parts.
func (c *compiler) parts(list []syntax.Part) []wpart {
	out := make([]wpart, 0, len(list))
	for _, p := range list {
		out = append(out, c.part(p))
	}
	return out
}

func (c *compiler) part(p syntax.Part) wpart {
	switch p := p.(type) {
	case *syntax.Lit:
		return &litPart{p.S}
	case *syntax.Quoted:
		return &quotedPart{p.S}
	case *syntax.DQ:
		return &dqPart{c.parts(p.Parts)}
	case *syntax.Param:
		return c.param(p)
	case *syntax.CmdSub:
		return c.cmdSub(p)
	case *syntax.ArithSub:
		return &arithPart{c.arith(p.X)}
	case *syntax.ProcSub:
		return &procPart{list: c.lazyList(p.List), out: p.Out, text: p.Text}
	case *syntax.Pattern:
		return &patPart{c.parts(p.Parts)}
	case *tildeNode:
		return &tildePart{name: p.name, arg: p.arg}
	}
	return &quotedPart{}
}

type (
	litPart    struct{ s string }
	quotedPart struct{ s string }
	dqPart     struct{ parts []wpart }
	patPart    struct{ parts []wpart }
	arithPart  struct{ code *arithCode }
	tildePart  struct {
		name string
		arg  bool // see tildeNode
	}
)

func (p *litPart) expand(f *fields, quoted bool) {
	if quoted {
		f.quoted(p.s)
	} else {
		f.literal(p.s)
	}
}

func (p *quotedPart) expand(f *fields, _ bool) { f.quote(p.s) }

func (p *dqPart) expand(f *fields, quoted bool) {
	if quoted { // "${x-"y"}": the quotes inside change nothing
		for _, q := range p.parts {
			q.expand(f, true)
		}
		return
	}
	before, size, fields := f.empty, f.size(), len(f.sh.stack)
	f.empty = false
	for _, q := range p.parts {
		q.expand(f, true)
	}
	// "$@" without parameters leaves no field, not even an empty one.
	if !f.empty || f.size() > size || len(f.sh.stack) > fields {
		f.some = true
	}
	f.empty = before
}

func (p *patPart) expand(f *fields, quoted bool) {
	if quoted {
		for _, q := range p.parts {
			q.expand(f, true)
		}
		return
	}
	split := f.split
	f.split = false
	for _, q := range p.parts {
		if l, ok := q.(*litPart); ok {
			f.pattern(l.s)
			continue
		}
		q.expand(f, false)
	}
	f.split = split
}

func (p *arithPart) expand(f *fields, quoted bool) {
	s, ok := f.sh.arithString(p.code)
	if !ok {
		return
	}
	if quoted {
		f.quoted(s)
	} else {
		f.expanded(s)
	}
}

func (p *tildePart) expand(f *fields, _ bool) {
	dir, ok := f.sh.tilde(p.name)
	if !ok || p.arg && f.sh.opt&optPosix != 0 {
		f.active("~" + p.name)
		return
	}
	f.quote(dir)
}

// builder returns a builder of fields that nobody uses.
func (sh *interp) builder() *fields {
	if f := sh.fb; f != nil {
		sh.fb = nil
		return f
	}
	return &fields{sh: sh}
}

func (sh *interp) done(f *fields) {
	if cap(f.buf) > 1<<16 {
		f.buf, f.pat = nil, nil
	}
	sh.fb = f
}

// str expands a word to one string.
func (sh *interp) str(w *word) string {
	if w == nil {
		return ""
	}
	if w.constant {
		return w.lit
	}
	if w.simple != nil {
		return w.simple.value(sh)
	}
	return sh.expandParts(w.parts, forText)
}

// expandParts expands parts to one string.
func (sh *interp) expandParts(parts []wpart, mode expandMode) string {
	f := sh.builder()
	f.begin(mode)
	for _, p := range parts {
		p.expand(f, false)
		if sh.ctl != ctlNone {
			break
		}
	}
	s := f.text()
	sh.done(f)
	return s
}

// patternText expands a word to a pattern.
func (sh *interp) patternText(w *word) string { return sh.expandParts(w.parts, forPattern) }

// quotedText expands a word whose text stands in double quotes.
func (sh *interp) quotedText(w *word) string {
	f := sh.builder()
	f.begin(forText)
	for _, p := range w.parts {
		p.expand(f, true)
	}
	s := f.text()
	sh.done(f)
	return s
}

// partText expands one part to a string.
func (sh *interp) partText(p wpart) string {
	if v, ok := p.(*varPart); ok {
		return v.value(sh)
	}
	f := sh.builder()
	f.begin(forText)
	p.expand(f, true)
	s := f.text()
	sh.done(f)
	return s
}

// fields expands a word to fields on the stack.
func (sh *interp) fields(w *word) {
	switch {
	case w.constant:
		sh.stack = append(sh.stack, w.lit)
	case w.simple != nil && !sh.isRef(w.simple.slot):
		sh.stack = append(sh.stack, w.simple.value(sh))
	case w.bare != nil:
		sh.bareField(w.bare)
	case w.braces && sh.opt&optBraceExpand != 0:
		sh.braceFields(nil, w.parts)
	case w.braces:
		sh.partFields(w.plain)
	default:
		sh.partFields(w.parts)
	}
}

// bareField expands $x alone, when it neither splits nor matches.
func (sh *interp) bareField(v *varPart) {
	s := v.value(sh)
	cls := sh.ifs()
	if s == "" {
		return
	}
	for i := range len(s) {
		if c := s[i]; cls[c] != 0 || c == '*' || c == '?' || c == '[' || c == '\\' || c == '(' || sh.ifsWide {
			f := sh.builder()
			f.begin(forFields)
			f.expanded(s)
			f.end()
			sh.done(f)
			return
		}
	}
	sh.stack = append(sh.stack, s)
}

func (sh *interp) partFields(parts []wpart) {
	f := sh.builder()
	f.begin(forFields)
	for _, p := range parts {
		p.expand(f, false)
		if sh.ctl != ctlNone {
			sh.done(f)
			return
		}
	}
	f.end()
	sh.done(f)
}

// expandText expands text made at run time: a subscript.
func (sh *interp) expandText(s string) string {
	if !strings.ContainsAny(s, "$`\\'\"") {
		return s
	}
	return sh.str(sh.m.lib.text(s))
}

// isRef tells whether the variable is a reference, which may mean a list.
func (sh *interp) isRef(slot int) bool {
	c := sh.cell(slot)
	return c != nil && c.attr&attrRef != 0
}
