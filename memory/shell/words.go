package shell

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/pattern"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/brace"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/ifs"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
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
	levels   int      // of constructs inside each other, of text that was made at run time
}

// wordKind is the context of a word.
type wordKind uint8

const (
	wordArg    wordKind = iota // an argument: braces, tildes
	wordAssign                 // the value of an assignment: tildes behind : too
	wordText                   // nothing special at its beginning
	wordTilde                  // a tilde at its beginning, no braces
)

// wpart is a compiled part of a word.
type wpart interface {
	// expand adds the part to f; quoted says that it is in double quotes.
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
			out.plain = c.parts(splitTildes(list, false, true))
			return out
		}
	}
	if kind == wordAssign || kind == wordTilde || kind == wordArg {
		list = splitTildes(list, kind == wordAssign, kind == wordArg)
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
	if !ok || p.arg && f.sh.opt&option.Posix != 0 {
		f.active("~" + p.name)
		return
	}
	f.quote(dir)
}

// expansion turns words into fields and texts. Each command that is being made has its fields at the end of stack, from
// a base that it knows, and pops them when it has run. The parsed IFS is compared with the variable before each use.
type expansion struct {
	stack   []string
	scratch []byte  // for output
	fb      *fields // a builder of fields that is free, nil for none
	ifs     ifs.Set

	sh *interp // has the variables and the arithmetic, runs the substitutions
}

// pop removes the words above base.
func (e *expansion) pop(base int) {
	if len(e.stack)-base > 64 {
		clear(e.stack[base:])
	}
	e.stack = e.stack[:base]
}

// done gives back a builder that builder has returned.
func (e *expansion) done(f *fields) {
	if cap(f.buf) > 1<<16 {
		f.buf, f.pat = nil, nil
	}
	e.fb = f
}

// builder returns a builder of fields that is free.
func (e *expansion) builder() *fields {
	if f := e.fb; f != nil {
		e.fb = nil
		return f
	}
	return &fields{sh: e.sh}
}

// str expands a word to one string.
func (e *expansion) str(w *word) string {
	if w == nil {
		return ""
	}
	if w.constant {
		return w.lit
	}
	if w.simple != nil {
		return w.simple.value(e.sh)
	}
	return e.expandParts(w.parts, forText)
}

// expandParts expands parts to one string.
func (e *expansion) expandParts(parts []wpart, mode expandMode) string {
	f := e.builder()
	f.begin(mode)
	for _, p := range parts {
		p.expand(f, false)
		if e.sh.ctl != ctlNone {
			break
		}
	}
	s := f.text()
	e.done(f)
	return s
}

// patternText expands a word to a pattern.
func (e *expansion) patternText(w *word) string { return e.expandParts(w.parts, forPattern) }

// quotedText expands a word whose text is in double quotes.
func (e *expansion) quotedText(w *word) string {
	f := e.builder()
	f.begin(forText)
	for _, p := range w.parts {
		p.expand(f, true)
	}
	s := f.text()
	e.done(f)
	return s
}

// partText expands one part to a string.
func (e *expansion) partText(p wpart) string {
	if v, ok := p.(*varPart); ok {
		return v.value(e.sh)
	}
	f := e.builder()
	f.begin(forText)
	p.expand(f, true)
	s := f.text()
	e.done(f)
	return s
}

// fields expands a word to fields on the stack.
func (e *expansion) fields(w *word) {
	sh := e.sh
	switch {
	case w.constant:
		e.push(w.lit)
	case w.simple != nil && !sh.isRef(w.simple.slot):
		e.push(w.simple.value(sh))
	case w.bare != nil:
		e.bareField(w.bare)
	case w.braces && sh.opt&option.BraceExpand != 0:
		e.braceFields(nil, w.parts)
	case w.braces:
		e.partFields(w.plain)
	default:
		e.partFields(w.parts)
	}
}

// bareField expands $x alone, when it neither splits nor matches.
func (e *expansion) bareField(v *varPart) {
	s := v.value(e.sh)
	cls := e.separators()
	if s == "" {
		return
	}
	for i := range len(s) {
		if c := s[i]; cls[c] != 0 || c == '*' || c == '?' || c == '[' || c == '\\' || c == '(' || e.ifs.IsWide() {
			f := e.builder()
			f.begin(forFields)
			f.expanded(s)
			f.end()
			e.done(f)
			return
		}
	}
	e.push(s)
}

func (e *expansion) partFields(parts []wpart) {
	f := e.builder()
	f.begin(forFields)
	for _, p := range parts {
		p.expand(f, false)
		if e.sh.ctl != ctlNone {
			e.done(f)
			return
		}
	}
	f.end()
	e.done(f)
}

// expandText expands text made at run time: a subscript.
func (e *expansion) expandText(s string) string {
	if !strings.ContainsAny(s, "$`\\'\"") {
		return s
	}
	return e.expandNested(e.textWord(s), e.str)
}

// expandNested expands text that was made at run time: it may be the value of a variable that it names itself.
func (e *expansion) expandNested(w *word, expand func(*word) string) string {
	if w.constant {
		return expand(w)
	}
	if !e.sh.tick() || !e.sh.deeper("expansion", w.levels) {
		return ""
	}
	s := expand(w)
	e.sh.shallower(w.levels)
	return s
}

// expandMode is the context of an expansion.
type expandMode uint8

const (
	forFields  expandMode = iota // arguments: split, then matched with names
	forText                      // one string
	forPattern                   // one pattern: what is quoted is escaped
	forRegex                     // one regular expression, likewise
	forPatsub                    // the string of ${x/y/string}, where & is the match
	forTrace                     // a pattern for set -x: each quoted character is escaped
)

// fields builds the expansion of words. Fields go to sh.stack, the other modes leave their text here.
type fields struct {
	sh   *interp
	mode expandMode

	one  string // the text so far, while it came in one piece
	buf  []byte // otherwise
	many bool   // buf is in use

	pat    []byte // the field as a pattern, when it has something to match
	globby bool
	some   bool // the field exists even if it is empty
	ws     bool // the last field ended at white space of IFS
	empty  bool // a list in the double quotes was empty
	joined bool // a list that becomes one text is joined as $* is, though it is $@
	split  bool // literal text splits too: the word of ${x-word}
}

// begin prepares the builder for a word.
func (f *fields) begin(mode expandMode) {
	f.mode, f.one, f.buf, f.many = mode, "", f.buf[:0], false
	f.pat, f.globby, f.some, f.ws, f.empty, f.split = f.pat[:0], false, false, false, false, false
}

// add appends bytes to the text.
func (f *fields) add(s string) {
	switch {
	case s == "":
	case f.many:
		if len(f.buf)+len(s) > cap(f.buf) && !f.room(len(f.buf)+len(s)) {
			return
		}
		f.buf = append(f.buf, s...) // bounded: room has charged for it
	case f.one == "":
		f.one = s
	default:
		if len(f.one)+len(s) > cap(f.buf) && !f.room(len(f.one)+len(s)) {
			return
		}
		f.buf = append(append(f.buf[:0], f.one...), s...)
		f.many = true
	}
}

// room makes the buffer large enough for n bytes; one that is small counts nothing.
func (f *fields) room(n int) bool {
	if n < 1<<12 {
		return true
	}
	size := 2 * n
	more := size - cap(f.buf)
	if f.globby {
		more *= 3 // The pattern may have a backslash before each byte.
	}
	if f.sh.hold(more) {
		f.buf = append(make([]byte, 0, size), f.buf...)
		return f.sh.spend(n >> 6)
	}
	return false
}

// text returns the added text.
func (f *fields) text() string {
	if f.many {
		if len(f.buf) > 1<<12 && !f.sh.hold(len(f.buf)) {
			return ""
		}
		return string(f.buf)
	}
	return f.one
}

func (f *fields) size() int {
	if f.many {
		return len(f.buf)
	}
	return len(f.one)
}

func (f *fields) clear() {
	f.one, f.buf, f.many = "", f.buf[:0], false
	f.pat, f.globby, f.some = f.pat[:0], false, false
}

// quoted appends text that means only itself.
func (f *fields) quoted(s string) {
	switch f.mode {
	case forFields:
		if f.globby {
			f.pat = pattern.AppendEscaped(f.pat, s)
		}
		f.add(s)
	case forText:
		f.add(s)
	case forPattern:
		f.add(pattern.Escape(s))
	case forTrace:
		if len(s) > lightText && !f.sh.hold(4*len(s)) {
			return
		}
		var b strings.Builder
		for w := range strings.SplitSeq(s, "") {
			b.WriteString(`\` + w) // bounded: charged above
		}
		f.add(b.String())
	case forPatsub:
		if strings.ContainsAny(s, `&\`) {
			s = strings.NewReplacer(`\`, `\\`, `&`, `\&`).Replace(s)
		}
		f.add(s)
	case forRegex:
		if strings.ContainsAny(s, regexBytes) {
			s = escapeRegex(s)
		}
		f.add(s)
	}
}

// quote appends text in quotes; the field exists then.
func (f *fields) quote(s string) {
	f.quoted(s)
	f.some = true
}

// literal appends text of the script without quotes.
func (f *fields) literal(s string) {
	if f.mode == forFields && f.split {
		f.expanded(s)
		return
	}
	f.active(s)
}

// active appends text that may match but does not split.
func (f *fields) active(s string) {
	if f.mode == forFields {
		if !f.globby && f.sh.globbing(s) {
			f.pat = pattern.AppendEscaped(f.pat[:0], f.text())
			f.globby = true
		}
		if f.globby {
			f.pat = append(f.pat, s...) // bounded: room has charged for it
		}
		f.some = true
		f.ws = false
	}
	f.add(s)
}

// pattern appends the text of an extended pattern.
func (f *fields) pattern(s string) {
	if f.mode == forFields && !f.globby && f.sh.opt&option.NoGlob == 0 {
		f.pat = pattern.AppendEscaped(f.pat[:0], f.text())
		f.globby = true
	}
	f.active(s)
}

// globbing reports whether the text has something to match names with.
func (o *shellOptions) globbing(s string) bool {
	if o.opt&option.NoGlob != 0 {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '*', '?', '[':
			return true
		case '\\':
			i++
		case '(':
			if i > 0 && o.shopt&shopt.ExtGlob != 0 && strings.IndexByte("+@!", s[i-1]) >= 0 {
				return true
			}
		}
	}
	return false
}

// expanded appends the result of an expansion without quotes.
func (f *fields) expanded(s string) {
	if s == "" {
		return
	}
	if f.mode != forFields {
		f.add(s)
		return
	}
	sh := f.sh
	cls := sh.separators()
	if sh.ifs.IsWide() {
		f.expandWide(s)
		return
	}
	start := 0
	for i := 0; i < len(s); i++ {
		k := cls[s[i]]
		if k == 0 {
			continue
		}
		if i > start {
			f.active(ifs.Cut(s, start, i))
		}
		if f.delimit(k); sh.gas < 0 && !sh.tick() {
			return
		}
		start = i + 1
	}
	if start < len(s) {
		f.active(s[start:])
	}
}

// expandWide splits at an IFS with characters beyond ASCII.
func (f *fields) expandWide(s string) {
	start := 0
	for i := 0; i < len(s); {
		k, n := f.sh.ifs.Class(s, i)
		if k != 0 {
			if i > start {
				f.active(ifs.Cut(s, start, i))
			}
			if f.delimit(k); !f.sh.tick() {
				return
			}
			start = i + n
		}
		i += n
	}
	if start < len(s) {
		f.active(s[start:])
	}
}

// delimit ends a field at a byte of IFS.
func (f *fields) delimit(k uint8) {
	content := f.some || f.size() > 0
	switch {
	case k == ifs.Space:
		if content {
			f.flush()
			f.ws = true
		}
	case content:
		f.flush()
		f.ws = false
	case f.ws: // "a : b": the blanks belong to the colon
		f.ws = false
	default:
		f.flush()
	}
}

// flush ends the field.
func (f *fields) flush() {
	sh := f.sh
	if f.globby && sh.opt&option.NoGlob == 0 {
		sh.glob(string(f.pat), f.text())
	} else {
		if f.many {
			sh.hold(len(f.buf))
		}
		sh.push(f.text())
	}
	sh.gas--
	f.clear()
}

// end ends the word: a field that has something, or had quotes, counts.
func (f *fields) end() {
	if f.some || f.size() > 0 {
		f.flush()
	}
}

// list appends several values, those of $@ or an array; star says that they were written with *.
func (f *fields) list(vals []string, quoted, star bool) {
	sh := f.sh
	if f.mode != forFields || quoted && star {
		sep := " "
		if star || f.joined && f.mode != forFields {
			sep = sh.ifsJoin()
		}
		if len(vals) == 0 && quoted {
			f.empty = !star || f.empty
		}
		for i, v := range vals {
			if i > 0 {
				f.addElement(sep, quoted)
			}
			f.addElement(v, quoted)
		}
		return
	}
	if quoted {
		if len(vals) == 0 {
			f.empty = true
		}
		for i, v := range vals {
			if i > 0 {
				f.flush()
			}
			if sh.gas < 0 && !sh.tick() {
				return
			}
			f.quoted(v)
			f.some = true
		}
		return
	}
	sh.separators()
	for i, v := range vals {
		if i > 0 {
			f.between()
		}
		f.expanded(v)
	}
}

// addElement appends one value of a list that becomes one text.
func (f *fields) addElement(s string, quoted bool) {
	if quoted {
		f.quoted(s)
	} else {
		f.expanded(s)
	}
}

// between ends a field between two elements as the first byte of IFS would.
func (f *fields) between() {
	k := f.sh.ifs.Between()
	if k != 0 {
		f.delimit(k)
	} else if f.some || f.size() > 0 {
		f.flush()
	}
}

// separators returns the class of each byte for splitting: see package ifs.
func (e *expansion) separators() *[256]uint8 {
	s, ok := e.sh.value(slotIFS)
	if !ok {
		s = ifs.Default
	}
	return e.ifs.Use(s)
}

// ifsJoin returns the separator of values in "$*".
func (v *settings) ifsJoin() string {
	s, ok := v.value(slotIFS)
	if !ok {
		return " "
	}
	return ifs.Separator(s)
}

const regexBytes = `\.[]{}()*+?^$|`

func escapeRegex(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(regexBytes, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// tildeNode is a tilde with the name behind it.
type tildeNode struct {
	syntax.Part
	name string
	arg  bool // of an argument that looks like an assignment: plain in POSIX mode
}

// splitTildes cuts tildes that count out of literal text: at the beginning, and in an assignment
// behind each colon. An argument that looks like an assignment has them behind "=" too.
func splitTildes(list []syntax.Part, assign, arg bool) []syntax.Part {
	if !hasTilde(list) {
		return list
	}
	var out []syntax.Part
	for i, p := range list {
		l, ok := p.(*syntax.Lit)
		if !ok {
			out = append(out, p)
			continue
		}
		last := i == len(list)-1
		rest := l.S
		if i == 0 && arg {
			if name, value, ok := strings.Cut(rest, "="); ok && isName(strings.TrimSuffix(name, "+")) {
				out = append(out, &syntax.Lit{S: name + "="})
				from := len(out)
				out = cutTildes(out, value, tildePlaces{start: true, last: last, assign: true})
				for _, p := range out[from:] {
					if t, ok := p.(*tildeNode); ok {
						t.arg = true
					}
				}
				assign = true
				continue
			}
		}
		out = cutTildes(out, rest, tildePlaces{start: i == 0, last: last, assign: assign})
	}
	return out
}

func hasTilde(list []syntax.Part) bool {
	for _, p := range list {
		if l, ok := p.(*syntax.Lit); ok && strings.IndexByte(l.S, '~') >= 0 {
			return true
		}
	}
	return false
}

// tildePlaces says which tildes of a literal expand.
type tildePlaces struct {
	start  bool // the one at its beginning
	last   bool // also a name that ends with the literal, because it is the word's last part
	assign bool // those behind a colon
}

// cutTildes appends the literal s with its tildes as nodes.
func cutTildes(out []syntax.Part, s string, at tildePlaces) []syntax.Part {
	for {
		if at.start && strings.HasPrefix(s, "~") {
			end := len(s)
			if i := strings.IndexByte(s, '/'); i >= 0 {
				end = i
			}
			if i := strings.IndexByte(s[:end], ':'); i >= 0 {
				end = i
			}
			if end < len(s) || at.last { // A quote right behind the tilde would make it literal.
				out = append(out, &tildeNode{name: s[1:end]}) // bounded: the parser has charged for each tilde
				s = s[end:]
			}
		}
		i := -1
		if at.assign {
			i = strings.Index(s, ":~")
		}
		if i < 0 {
			if s != "" {
				out = append(out, &syntax.Lit{S: s}) // bounded: the parser has charged for each tilde
			}
			return out
		}
		out = append(out, &syntax.Lit{S: s[:i+1]}) // bounded: the parser has charged for each tilde
		s, at.start = s[i+1:], true
	}
}

// tilde returns the directory that ~name stands for.
func (e *expansion) tilde(name string) (string, bool) {
	switch name {
	case "":
		if home, ok := e.sh.value(slotHOME); ok {
			return home, true
		}
		if !e.sh.spend(smallFileGas) {
			return "", false
		}
		return e.sh.homeOf(int(e.sh.cred.UID))
	case "+":
		return e.sh.get(slotPWD), true
	case "-":
		return e.sh.value(slotOLDPWD)
	}
	digits := strings.TrimLeft(name, "+-")
	if n, err := strconv.Atoi(digits); err == nil {
		list := e.sh.dirs()
		if !e.sh.spend(len(list) >> 2) {
			return "", false
		}
		if name[0] == '-' {
			n = len(list) - 1 - n
		}
		if n >= 0 && n < len(list) {
			return list[n], true
		}
		return "", false
	}
	if !e.sh.spend(smallFileGas) {
		return "", false
	}
	return e.sh.home(name)
}

// smallFileGas is the fuel for looking into a small file such as /etc/passwd.
const smallFileGas = smallFile >> 10

// home returns a user's home directory from the machine's /etc/passwd.
func (s *processState) home(user string) (string, bool) {
	for line := range strings.SplitSeq(s.readSmall("/etc/passwd"), "\n") {
		if f := strings.Split(line, ":"); len(f) > 5 && f[0] == user { // bounded: by a small file
			return f[5], true
		}
	}
	if user == "root" {
		return "/root", true
	}
	return "", false
}

func (s *processState) homeOf(uid int) (string, bool) {
	for line := range strings.SplitSeq(s.readSmall("/etc/passwd"), "\n") {
		if f := strings.Split(line, ":"); len(f) > 5 && f[2] == strconv.Itoa(uid) { // bounded: by a small file
			return f[5], true
		}
	}
	if uid == 0 {
		return "/root", true
	}
	return "/", true
}

// bracePart is {a,b} or {1..9}.
type bracePart struct {
	alts [][]wpart
	seq  *brace.Sequence
}

// expand is for a word that expands to one string, where braces do not count; braceFields
// takes them apart before.
func (p *bracePart) expand(*fields, bool) {}

func hasBraces(list []syntax.Part) bool {
	open := false
	for _, p := range list {
		if l, ok := p.(*syntax.Lit); ok {
			if strings.IndexByte(l.S, '{') >= 0 {
				open = true
			}
			if open && strings.IndexByte(l.S, '}') >= 0 {
				return true
			}
		}
	}
	return false
}

// braceToken is a byte of literal text, or a part that braces do not look into.
type braceToken struct {
	c    byte
	part syntax.Part
}

// braces compiles parts with brace expansions; false when there are none after all.
func (c *compiler) braces(list []syntax.Part) ([]wpart, bool) {
	var toks []braceToken
	for _, p := range list {
		if l, ok := p.(*syntax.Lit); ok {
			for i := range len(l.S) {
				toks = append(toks, braceToken{c: l.S[i]}) // bounded: the parser has charged for braced text
			}
			continue
		}
		toks = append(toks, braceToken{part: p})
	}
	found := false
	parts := c.braceParts(toks, &found, 0)
	return parts, found
}

// braceParts compiles tokens.
func (c *compiler) braceParts(toks []braceToken, found *bool, depth int) []wpart {
	var out []wpart
	var lit []byte
	flush := func() {
		if len(lit) > 0 {
			out = append(out, &litPart{string(lit)}) // bounded: the parser has charged for braces and commas
			lit = nil
		}
	}
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		if t.part != nil {
			flush()
			out = append(out, c.part(t.part))
			continue
		}
		if t.c == '{' && depth < 100 {
			if b, end := c.brace(toks, i, found, depth); b != nil {
				flush()
				out = append(out, b)
				i = end
				continue
			}
		}
		lit = append(lit, t.c)
	}
	flush()
	return out
}

// brace compiles the brace that opens at i; nil when it is literal.
func (c *compiler) brace(toks []braceToken, i int, found *bool, nested int) (*bracePart, int) {
	depth, commas := 0, []int{}
	for j := i; j < len(toks); j++ {
		switch toks[j].c {
		case '{':
			depth++
		case ',':
			if depth == 1 {
				commas = append(commas, j)
			}
		case '}':
			if depth--; depth > 0 {
				continue
			}
			if len(commas) == 0 {
				if s := braceSequence(toks[i+1 : j]); s != nil {
					*found = true
					return &bracePart{seq: s}, j
				}
				return nil, 0
			}
			*found = true
			b := &bracePart{}
			start := i + 1
			for _, k := range append(commas, j) {
				b.alts = append(b.alts, c.braceParts(toks[start:k], found, nested+1)) // bounded: the parser has charged for braces and commas
				start = k + 1
			}
			return b, j
		}
	}
	return nil, 0
}

// braceSequence reads from..to and from..to..step; nil for other tokens.
func braceSequence(toks []braceToken) *brace.Sequence {
	b := make([]byte, 0, len(toks))
	for _, t := range toks {
		if t.part != nil {
			return nil
		}
		b = append(b, t.c)
	}
	return brace.Parse(string(b))
}

// braceFields expands the braces of rest, from the left, and then each word.
func (e *expansion) braceFields(before, rest []wpart) {
	for i, p := range rest {
		b, ok := p.(*bracePart)
		if !ok {
			continue
		}
		before = append(slices.Clip(before), rest[:i]...)
		rest = rest[i+1:]
		if b.seq != nil {
			e.braceSequence(b.seq, before, rest)
			return
		}
		for _, alt := range b.alts {
			e.braceFields(before, append(slices.Clip(alt), rest...))
			if !e.sh.spend(1) {
				return
			}
		}
		return
	}
	e.partFields(bracedTilde(append(slices.Clip(before), rest...)))
}

// bracedTilde finds a tilde at the beginning of a word that braces have made.
func bracedTilde(parts []wpart) []wpart {
	if len(parts) == 0 {
		return parts
	}
	l, ok := parts[0].(*litPart)
	if !ok || !strings.HasPrefix(l.s, "~") {
		return parts
	}
	text, n := "", 0
	for ; n < len(parts); n++ {
		l, ok := parts[n].(*litPart)
		if !ok {
			break
		}
		text += l.s
	}
	name, rest := text[1:], ""
	if i := strings.IndexByte(text, '/'); i > 0 {
		name, rest = text[1:i], text[i:]
	} else if n < len(parts) {
		return parts
	}
	return append([]wpart{&tildePart{name: name}, &litPart{rest}}, parts[n:]...)
}

// partsText returns the plain text of parts.
func partsText(parts []wpart) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *litPart:
			b.WriteString(p.s)
		case *quotedPart:
			b.WriteString(p.s)
		}
	}
	return b.String()
}

// braceSequence expands a word for each element of the sequence between the parts.
func (e *expansion) braceSequence(s *brace.Sequence, before, rest []wpart) {
	plain := len(before) == 0 && len(rest) == 0 && !s.HasChars()
	for n, more := s.First(), true; more; n, more = s.Next(n) {
		text := s.Text(n)
		switch {
		case plain:
			e.sh.hold(16 + len(text))
			e.push(text)
		default:
			if s.HasChars() && text == "`" && len(rest) > 0 { // bash reads the text of the word again.
				e.sh.errorf("bad substitution: no closing \"`\" in `%s", partsText(rest))
				e.sh.abort()
				return
			}
			var item wpart = &litPart{text}
			if s.HasChars() {
				item = &quotedPart{text}
			}
			e.braceFields(before, append([]wpart{item}, rest...))
		}
		if !e.sh.tick() {
			return
		}
	}
}

// releaseHeld releases the memory held since held had this value.
func (e *expansion) releaseHeld(held int) {
	e.sh.charge(held - e.sh.memory.Held())
	e.sh.memory.SetHeld(held)
	if c := cap(e.stack); c > manyWords && len(e.stack) < c/4 {
		e.stack = append(make([]string, 0, 2*len(e.stack)), e.stack...)
	}
}

// manyWords is the number of words of a command that do not count as memory.
const manyWords = 1 << 12

// wordWeight is how many bytes a word takes beside its text.
const wordWeight = 16

// push adds a word to those of the command.
func (e *expansion) push(s string) {
	if len(e.stack) == cap(e.stack) && !e.growStack(1) {
		return
	}
	e.stack = append(e.stack, s) // bounded: growStack has charged for it
}

// pushAll is push for a list.
func (e *expansion) pushAll(list []string) {
	if len(e.stack)+len(list) > cap(e.stack) && !e.growStack(len(list)) {
		return
	}
	e.stack = append(e.stack, list...) // bounded: growStack has charged for it
}

// growStack charges for a stack with room for n more words.
func (e *expansion) growStack(n int) bool {
	need := len(e.stack) + n
	if need <= manyWords {
		return true
	}
	size := max(need, 2*cap(e.stack))
	if !e.sh.hold(wordWeight * (size - cap(e.stack))) {
		return false
	}
	e.stack = append(make([]string, 0, size), e.stack...)
	return true
}
