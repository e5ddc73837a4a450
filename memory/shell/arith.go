package shell

import (
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
)

// arithmetic is the state of the expression that is evaluated.
type arithmetic struct {
	arithErr   *arithError // the first error
	arithArgs  []arithArg  // the values of the expansions inside it
	arithDepth int         // expressions around it
	traceArith string      // what set -x shows before it
}

// arithFail notes the first error of an evaluation.
func (a *arithmetic) arithFail(err *arithError) {
	if a.arithErr == nil {
		a.arithErr = err
	}
}

// withArgs puts the values of the arguments into the text.
func (a *arithmetic) withArgs(s string) string {
	if strings.IndexByte(s, 1) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == 1 && i+2 < len(s) && int(s[i+1]) < len(a.arithArgs) {
			b.WriteString(a.arithArgs[s[i+1]].text)
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// lvalue is a variable in an expression.
type lvalue struct {
	slot  int
	index bool
	sub   string // may hold arguments
	x     expr   // of an indexed array; nil: the subscript is not an expression
	err   *arithError
	start int
}

func (p *arithParser) lvalue() *lvalue {
	if p.seen != nil && p.seen.start == p.start { // Compiling each level twice would take exponential time.
		return p.seen
	}
	v := &lvalue{slot: p.lib.symbols.slot(p.name), index: p.index, sub: p.sub, start: p.start}
	p.seen = v
	if p.index {
		if p.depth > maxArithDepth {
			p.fail("expression recursion level exceeded")
		}
		sub := &arithParser{lib: p.lib, text: p.sub, depth: p.depth + 1}
		v.x, v.err = sub.whole()
	}
	return v
}

// whole compiles all of the text; the error says why it is not an expression.
func (p *arithParser) whole() (x expr, err *arithError) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*arithError)
			if !ok {
				panic(r)
			}
			x, err = nil, e
		}
	}()
	p.next()
	if p.tok == "" {
		p.fail("syntax error: operand expected")
	}
	x = p.comma()
	if p.tok != "" {
		p.fail("syntax error in expression")
	}
	return x, nil
}

// getter returns the closure that reads the variable.
func (v *lvalue) getter() expr {
	if v.index {
		return v.get
	}
	slot := v.slot
	return func(sh *interp) int64 {
		if slot < len(sh.vars) {
			if c := sh.vars[slot]; c != nil && c.attr&attrNum != 0 {
				return c.num
			}
		}
		return sh.intOf(slot)
	}
}

func (v *lvalue) get(sh *interp) int64 {
	if !v.index {
		if c := sh.cell(v.slot); c != nil && c.attr&attrNum != 0 {
			return c.num
		}
		return sh.intOf(v.slot)
	}
	var s string
	var ok bool
	if sh.isAssoc(v.slot) {
		pl, _ := sh.follow(v.slot)
		s, ok = sh.cell(pl.slot).assoc.At(v.key(sh))
	} else {
		i, fine := v.at(sh)
		if !fine {
			return 0
		}
		s, ok = sh.indexedAt(v.slot, sh.cell(v.slot), i)
	}
	if !ok && sh.opt&option.NoUnset != 0 && !sh.cell(v.slot).isSet() {
		sh.unbound(sh.m.lib.symbols.name(v.slot))
		sh.arithFail(&arithError{quiet: true})
		return 0
	}
	return sh.intText(s)
}

// at returns the subscript as a number.
func (v *lvalue) at(sh *interp) (int64, bool) {
	if sh.arithErr != nil {
		return 0, false
	}
	n := int64(0)
	switch {
	case v.x != nil:
		n = v.x(sh)
	case strings.IndexByte(v.sub, 1) >= 0:
		n = sh.intText(sh.withArgs(v.sub))
	case strings.ContainsAny(v.sub, "$`"):
		n = sh.intText(sh.expandText(v.sub))
	default:
		sh.arithFail(v.err)
	}
	if sh.arithErr != nil && !sh.arithErr.fatal {
		e := *sh.arithErr
		e.fatal = true
		sh.arithErr = &e
	}
	return n, sh.arithErr == nil && sh.ctl == ctlNone
}

// key returns the subscript as a key.
func (v *lvalue) key(sh *interp) string {
	if strings.IndexByte(v.sub, 1) >= 0 {
		return sh.withArgs(v.sub)
	}
	return sh.expandText(v.sub)
}

func (v *lvalue) set(sh *interp, n int64) int64 {
	if sh.arithErr != nil {
		return n
	}
	ok := false
	switch {
	case !v.index:
		ok = sh.assignInt(v.slot, n)
	case sh.isAssoc(v.slot):
		ok = sh.assignKey(v.slot, v.key(sh), strconv.FormatInt(n, 10), false)
	default:
		if i, fine := v.at(sh); fine {
			ok = sh.assignIndex(v.slot, i, strconv.FormatInt(n, 10), false, sh.withArgs(v.sub))
		}
	}
	if !ok {
		sh.arithFail(&arithError{quiet: true})
	}
	return n
}

// intOf returns the variable as a number; its value may be an expression.
func (sh *interp) intOf(slot int) int64 {
	s, ok := sh.value(slot)
	if !ok {
		if sh.opt&option.NoUnset != 0 {
			sh.unbound(sh.m.lib.symbols.name(slot))
			sh.arithFail(&arithError{quiet: true})
		}
		return 0
	}
	if n, ok := plainInt(s); ok {
		if c := sh.cell(slot); c.epoch == sh.epoch && c.attr&(attrNotPlain&^attrInteger) == 0 {
			c.num = n
			c.attr |= attrNum
		}
		return n
	}
	return sh.intText(s)
}

// plainInt understands decimal numbers without leading zeros.
func plainInt(s string) (int64, bool) {
	digits := s
	if s != "" && s[0] == '-' {
		digits = s[1:]
	}
	if digits == "" || len(digits) > 18 || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	n := int64(0)
	for i := range len(digits) {
		d := digits[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + int64(d)
	}
	if len(digits) != len(s) {
		n = -n
	}
	return n, true
}

// intText evaluates text inside another evaluation.
func (sh *interp) intText(s string) int64 {
	if n, ok := plainInt(s); ok {
		return n
	}
	if strings.TrimSpace(s) == "" {
		return 0
	}
	if sh.arithDepth >= maxArithDepth {
		sh.arithFail(&arithError{text: s, msg: "expression recursion level exceeded", token: s})
		return 0
	}
	if !sh.tick() {
		sh.arithFail(&arithError{quiet: true})
		return 0
	}
	names := sh.m.lib.symbols.weight.Load()
	if len(s) > lightText && (!sh.hold(arithWeight*len(s)) || !sh.spend(len(s)>>2)) {
		sh.arithFail(&arithError{quiet: true})
		return 0
	}
	x, err := sh.m.lib.arith(s)
	sh.chargeNames(names)
	if err != nil {
		sh.arithFail(err)
		return 0
	}
	sh.arithDepth++
	args := sh.arithArgs
	sh.arithArgs = nil
	n := x(sh)
	sh.arithArgs = args
	sh.arithDepth--
	return n
}

// arithText evaluates text; false after an error, whose message is written.
func (sh *interp) arithText(s string) (int64, bool) {
	if n, ok := plainInt(s); ok {
		return n, true
	}
	before := sh.arithErr
	sh.arithErr = nil
	n := sh.intText(s)
	err := sh.arithErr
	sh.arithErr = before
	return n, sh.reportArith(err)
}

// reportArith writes the error of an evaluation; true when there is none.
func (ex *execution) reportArith(err *arithError) bool {
	if err == nil {
		return true
	}
	if !err.quiet {
		ex.arithMessage(err)
	}
	if err.fatal {
		ex.arithAbort()
	}
	return false
}

// arithArg is the value of an expansion inside an expression.
type arithArg struct {
	num  int64
	text string
}

// arithCode is an expression of a script.
type arithCode struct {
	x    expr        // nil: see err, or the text has to be made first
	err  *arithError // why no arguments make it an expression
	args []wpart
	text string // with arguments marked
}

// eval returns the value; false after an error, whose message is written.
func (a *arithCode) eval(sh *interp) (int64, bool) {
	if len(a.args) == 0 {
		if sh.traceArith != "" {
			sh.xtrace(sh.traceArith + a.text + " ))")
			sh.traceArith = ""
		}
		if a.err != nil {
			return 0, sh.reportArith(a.err)
		}
		before := sh.arithErr
		sh.arithErr = nil
		n := a.x(sh)
		if err := sh.arithErr; err != nil {
			sh.arithErr = before
			return 0, sh.reportArith(err)
		}
		sh.arithErr = before
		return n, true
	}
	return a.evalArgs(sh)
}

// evalArgs expands the arguments. Numbers go to the compiled expression; anything else is
// put into the text, which is then compiled, because it may be "1 + 2".
func (a *arithCode) evalArgs(sh *interp) (int64, bool) {
	trace := sh.traceArith
	sh.traceArith = ""
	args := make([]arithArg, len(a.args))
	numbers := a.x != nil
	for i, part := range a.args {
		s := sh.partText(part)
		if sh.isUnwinding() {
			return 0, false
		}
		args[i].text = s
		n, ok := plainInt(s)
		args[i].num = n
		numbers = numbers && ok
	}
	before, beforeErr := sh.arithArgs, sh.arithErr
	sh.arithArgs, sh.arithErr = args, nil
	if trace != "" {
		sh.xtrace(trace + sh.withArgs(a.text) + " ))")
	}
	var n int64
	if numbers {
		n = a.x(sh)
	} else {
		text := sh.withArgs(a.text)
		sh.arithArgs = nil
		sh.arithDepth--
		n = sh.intText(text)
		sh.arithDepth++
	}
	err := sh.arithErr
	if err != nil && strings.IndexByte(err.text, 1) >= 0 {
		e := *err
		e.text, e.token = sh.withArgs(e.text), sh.withArgs(e.token)
		err = &e
	}
	sh.arithArgs, sh.arithErr = before, beforeErr
	return n, sh.reportArith(err)
}

// subscriptText evaluates a subscript that is text; an error ends the command around it.
func (sh *interp) subscriptText(s string) (int64, bool) {
	before := sh.builtinName
	sh.builtinName = ""
	n, ok := sh.arithText(sh.expandText(s))
	sh.builtinName = before
	if !ok {
		sh.arithAbort()
	}
	return n, ok
}

// evalIndex evaluates a subscript; an error ends the command around it.
func (sh *interp) evalIndex(index *subscript) (int64, bool) {
	before := sh.builtinName
	sh.builtinName = ""
	n, ok := index.code.eval(sh)
	sh.builtinName = before
	if !ok {
		sh.arithAbort()
	}
	return n, ok
}

// expr is a compiled arithmetic expression. After an error sh.arithErr is set and the value
// means nothing.
type expr func(sh *interp) int64

// arithError is an expression that cannot be evaluated.
type arithError struct {
	text  string // the expression
	msg   string
	token string // what is left of it where the error is
	quiet bool   // its message is written
	fatal bool   // of a subscript: the command around it ends
}

func (e *arithError) Error() string {
	return strings.TrimLeft(e.text, " \t\n") + ": " + e.msg + " (error token is \"" + e.token + "\")"
}

// arithParser compiles an expression. An argument, the value of an expansion in the text, is
// written as \x01, its number as a byte, \x02.
type arithParser struct {
	lib   *library
	text  string
	pos   int
	tok   string // operator; "n" a number, "v" a variable, "a" an argument, "" the end
	num   int64
	name  string
	sub   string
	index bool // the variable has a subscript
	start int  // of tok
	last  int  // of the token before
	depth int

	changed bool    // the number before is what ++x or --x came to
	seen    *lvalue // the one compiled last
}

// maxArithDepth bounds the nesting of parentheses and evaluations of variables.
const maxArithDepth = 1024

// compileArith compiles the text; empty text is 0.
func compileArith(lib *library, text string) (x expr, err *arithError) {
	p := &arithParser{lib: lib, text: text}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*arithError)
			if !ok {
				panic(r)
			}
			x, err = nil, e
		}
	}()
	p.next()
	if p.tok == "" {
		return func(*interp) int64 { return 0 }, nil
	}
	x = p.comma()
	if p.tok != "" {
		p.fail("syntax error in expression")
	}
	return x, nil
}

// fail ends the compilation at the current token.
func (p *arithParser) fail(msg string) { panic(p.fault(msg, p.start)) }

// fault is an error at a place of the text.
func (p *arithParser) fault(msg string, at int) *arithError {
	return &arithError{text: p.text, msg: msg, token: p.text[at:]}
}

// arithOperators, longest first.
var arithOperators = []string{
	"<<=", ">>=", "**", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "++", "--",
}

// next reads a token.
func (p *arithParser) next() {
	p.last = p.start
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t' || p.text[p.pos] == '\n' || p.text[p.pos] == '\r') {
		p.pos++
	}
	if p.pos >= len(p.text) {
		p.tok = "" // Messages show the last token there is.
		return
	}
	p.start = p.pos
	c := p.text[p.pos]
	switch {
	case c == 1 && p.pos+2 < len(p.text):
		p.tok, p.num = "a", int64(p.text[p.pos+1])
		p.pos += 3
		if p.pos < len(p.text) && (isNameByte(p.text[p.pos]) || p.text[p.pos] == 1 || p.text[p.pos] == '#' || p.text[p.pos] == '[') {
			p.fail("syntax error in expression") // The value joins its neighbour: compile the text with the values in it.
		}
	case c >= '0' && c <= '9':
		p.number()
	case isNameByte(c):
		p.variable()
	default:
		p.operator()
	}
}

func isNameByte(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

func (p *arithParser) operator() {
	rest := p.text[p.pos:]
	for _, op := range arithOperators {
		if !strings.HasPrefix(rest, op) {
			continue
		}
		if op == "++" || op == "--" { // "2--1": two operators unless a name can take them
			after := strings.TrimLeft(rest[2:], " \t\n")
			prefix := after != "" && isNameByte(after[0]) && (after[0] < '0' || after[0] > '9')
			if p.tok == "n" && p.changed {
				p.fail(op + ": assignment requires lvalue")
			}
			if p.tok != "v" && !prefix {
				break
			}
		}
		p.tok = op
		p.pos += len(op)
		return
	}
	if strings.IndexByte("+-*/%<>=!~&|^?:,()", rest[0]) < 0 {
		if p.tok == "n" || p.tok == "v" || p.tok == "a" {
			p.fail("syntax error: invalid arithmetic operator")
		}
		p.fail("syntax error: operand expected")
	}
	p.tok = rest[:1]
	p.pos++
}

// variable reads a name with its subscript.
func (p *arithParser) variable() {
	start := p.pos
	for p.pos < len(p.text) && isNameByte(p.text[p.pos]) {
		p.pos++
	}
	if p.pos < len(p.text) && p.text[p.pos] == 1 {
		p.fail("syntax error in expression")
	}
	p.tok, p.name, p.index = "v", p.text[start:p.pos], false
	if p.pos < len(p.text) && p.text[p.pos] == '[' {
		end := subscriptEnd(p.text, p.pos)
		if end < 0 {
			p.start = start
			p.fail("bad array subscript")
		}
		p.sub, p.index = p.text[p.pos+1:end], true
		p.pos = end + 1
	}
}

// subscriptEnd returns where the bracket that opens at i closes, -1 when it does not.
func subscriptEnd(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'', '"':
			j := strings.IndexByte(s[i+1:], s[i])
			if j < 0 {
				return -1
			}
			i += j + 1
		case '$':
			if i+1 < len(s) && (s[i+1] == '{' || s[i+1] == '(') {
				if i = closing(s, i+1); i < 0 {
					return -1
				}
			}
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// closing returns where the brace or parenthesis at i closes, -1 when it does not.
func closing(s string, i int) int {
	open, shut := s[i], byte('}')
	if open == '(' {
		shut = ')'
	}
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'':
			j := strings.IndexByte(s[i+1:], '\'')
			if j < 0 {
				return -1
			}
			i += j + 1
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// number reads a constant: decimal, 0octal, 0xhex or base#digits.
func (p *arithParser) number() {
	start := p.pos
	for p.pos < len(p.text) && (isNameByte(p.text[p.pos]) || p.text[p.pos] == '#' || p.text[p.pos] == '@') {
		p.pos++
	}
	if p.pos < len(p.text) && p.text[p.pos] == 1 {
		p.fail("syntax error in expression")
	}
	n, msg := parseNumber(p.text[start:p.pos])
	if msg != "" {
		panic(p.fault(msg, start))
	}
	p.tok, p.num, p.changed = "n", n, false
}

// parseNumber returns the value of a constant, or the error. Values that are too large wrap.
func parseNumber(s string) (n int64, msg string) {
	base := uint64(10)
	digits := s
	if before, after, ok := strings.Cut(s, "#"); ok {
		if s[0] == '0' {
			return 0, "invalid number"
		}
		b, msg := parseNumber(before)
		if msg != "" || b < 2 || b > 64 {
			return 0, "invalid arithmetic base"
		}
		base, digits = uint64(b), after
		if digits == "" {
			return 0, "invalid integer constant"
		}
		if strings.IndexByte(digits, '#') >= 0 {
			return 0, "invalid number"
		}
	} else if len(s) > 1 && s[0] == '0' {
		base, digits = 8, s[1:]
		if s[1] == 'x' || s[1] == 'X' {
			base, digits = 16, s[2:]
			if digits == "" {
				return 0, ""
			}
		}
	}
	var v uint64
	for i := range len(digits) {
		d := digitValue(digits[i], base)
		if d >= base {
			return 0, "value too great for base"
		}
		v = v*base + d
	}
	return int64(v), ""
}

// digitValue returns the value of a digit, a large number for another character.
func digitValue(c byte, base uint64) uint64 {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0')
	case c >= 'a' && c <= 'z':
		return uint64(c-'a') + 10
	case c >= 'A' && c <= 'Z' && base <= 36:
		return uint64(c-'A') + 10
	case c >= 'A' && c <= 'Z':
		return uint64(c-'A') + 36
	case c == '@':
		return 62
	case c == '_':
		return 63
	}
	return math.MaxUint64
}

func (p *arithParser) enter() {
	if p.depth++; p.depth > maxArithDepth {
		p.fail("expression recursion level exceeded")
	}
}

func (p *arithParser) comma() expr {
	p.enter()
	defer func() { p.depth-- }()
	x := p.assign()
	if p.tok != "," {
		return x
	}
	all := &chain{first: x}
	for p.tok == "," {
		p.next()
		all.links = append(all.links, link{op: ",", x: p.assign()}) // bounded: by the nodes of an expression, which are charged
	}
	return all.eval
}

// assign is conditional [op= assign]; only a variable may be on the left.
func (p *arithParser) assign() expr {
	p.enter()
	defer func() { p.depth-- }()
	v := p.peekVariable()
	x := p.conditional()
	op := p.tok
	switch op {
	case "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|=":
	default:
		return x
	}
	if v == nil || p.last != v.start {
		p.fail("attempted assignment to non-variable")
	}
	p.next()
	y := p.assign()
	at := p.start // bash shows the text behind it.
	if at >= len(p.text) {
		at = p.last
	}
	if op == "=" {
		return func(sh *interp) int64 {
			n := y(sh)
			return v.set(sh, n)
		}
	}
	f := p.binaryOp(op[:len(op)-1], at)
	return func(sh *interp) int64 {
		n := v.get(sh)
		return v.set(sh, f(sh, n, y(sh)))
	}
}

// peekVariable returns the variable that the next token is, nil for others.
func (p *arithParser) peekVariable() *lvalue {
	if p.tok != "v" {
		return nil
	}
	return p.lvalue()
}

func (p *arithParser) conditional() expr {
	cond := p.binary(0)
	if p.tok != "?" {
		return cond
	}
	p.enter()
	defer func() { p.depth-- }()
	p.next()
	if p.tok == "" || p.tok == ":" {
		p.fail("expression expected")
	}
	yes := p.comma()
	if p.tok != ":" {
		p.fail("`:' expected for conditional expression")
	}
	p.next()
	if p.tok == "" {
		p.fail("expression expected")
	}
	no := p.conditional()
	return func(sh *interp) int64 {
		if cond(sh) != 0 {
			return yes(sh)
		}
		return no(sh)
	}
}

// levels are the binary operators from the loosest on.
var levels = [][]string{
	{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
}

func (p *arithParser) binary(level int) expr {
	if level == len(levels) {
		return p.power()
	}
	x := p.binary(level + 1)
	var long *chain
	for n := 0; ; n++ {
		op := ""
		for _, o := range levels[level] {
			if p.tok == o {
				op = o
			}
		}
		if op == "" {
			return x
		}
		p.next()
		at := p.start
		a, b := x, p.binary(level+1)
		switch {
		case n < maxJoined:
			x = p.join(op, a, b, at)
			continue
		case long == nil:
			long = &chain{first: a}
			x = long.eval
		}
		long.links = append(long.links, link{op, p.binaryOp(op, at), b}) // bounded: by the nodes of an expression, which are charged
	}
}

// maxJoined bounds the operators that become nested closures; a longer chain is one closure,
// so that evaluating it takes no stack.
const maxJoined = 32

// chain is a long row of operators of one level.
type chain struct {
	first expr
	links []link
}

type link struct {
	op string
	f  func(sh *interp, a, b int64) int64
	x  expr
}

func (c *chain) eval(sh *interp) int64 {
	n := c.first(sh)
	for i := range c.links {
		l := &c.links[i]
		if sh.gas--; sh.gas < 0 && !sh.tick() {
			sh.arithFail(&arithError{quiet: true})
			return 0
		}
		switch l.op {
		case "||":
			n = boolToInt(n != 0 || l.x(sh) != 0)
		case "&&":
			n = boolToInt(n != 0 && l.x(sh) != 0)
		case ",":
			n = l.x(sh)
		default:
			n = l.f(sh, n, l.x(sh))
		}
	}
	return n
}

// join returns the closure of a binary operator.
func (p *arithParser) join(op string, a, b expr, at int) expr {
	switch op {
	case "||":
		return func(sh *interp) int64 { return boolToInt(a(sh) != 0 || b(sh) != 0) }
	case "&&":
		return func(sh *interp) int64 { return boolToInt(a(sh) != 0 && b(sh) != 0) }
	case "+":
		return func(sh *interp) int64 { n := a(sh); return n + b(sh) }
	case "-":
		return func(sh *interp) int64 { n := a(sh); return n - b(sh) }
	case "*":
		return func(sh *interp) int64 { n := a(sh); return n * b(sh) }
	case "<":
		return func(sh *interp) int64 { n := a(sh); return boolToInt(n < b(sh)) }
	case ">":
		return func(sh *interp) int64 { n := a(sh); return boolToInt(n > b(sh)) }
	case "<=":
		return func(sh *interp) int64 { n := a(sh); return boolToInt(n <= b(sh)) }
	case ">=":
		return func(sh *interp) int64 { n := a(sh); return boolToInt(n >= b(sh)) }
	case "==":
		return func(sh *interp) int64 { n := a(sh); return boolToInt(n == b(sh)) }
	case "!=":
		return func(sh *interp) int64 { n := a(sh); return boolToInt(n != b(sh)) }
	}
	f := p.binaryOp(op, at)
	return func(sh *interp) int64 { n := a(sh); return f(sh, n, b(sh)) }
}

func boolToInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// binaryOp returns the operation on numbers; at is the position of the right operand.
func (p *arithParser) binaryOp(op string, at int) func(sh *interp, a, b int64) int64 {
	switch op {
	case "+":
		return func(_ *interp, a, b int64) int64 { return a + b }
	case "-":
		return func(_ *interp, a, b int64) int64 { return a - b }
	case "*":
		return func(_ *interp, a, b int64) int64 { return a * b }
	case "/", "%":
		zero := p.fault("division by 0", at)
		rest := op == "%"
		return func(sh *interp, a, b int64) int64 {
			switch {
			case b == 0:
				sh.arithFail(zero)
				return 0
			case b == -1: // The smallest number divided by -1 traps on some machines.
				if rest {
					return 0
				}
				return -a
			case rest:
				return a % b
			}
			return a / b
		}
	case "<<":
		return func(_ *interp, a, b int64) int64 { return a << (uint64(b) & 63) }
	case ">>":
		return func(_ *interp, a, b int64) int64 { return a >> (uint64(b) & 63) }
	case "&":
		return func(_ *interp, a, b int64) int64 { return a & b }
	case "^":
		return func(_ *interp, a, b int64) int64 { return a ^ b }
	case "|":
		return func(_ *interp, a, b int64) int64 { return a | b }
	case "<":
		return func(_ *interp, a, b int64) int64 { return boolToInt(a < b) }
	case ">":
		return func(_ *interp, a, b int64) int64 { return boolToInt(a > b) }
	case "<=":
		return func(_ *interp, a, b int64) int64 { return boolToInt(a <= b) }
	case ">=":
		return func(_ *interp, a, b int64) int64 { return boolToInt(a >= b) }
	case "==":
		return func(_ *interp, a, b int64) int64 { return boolToInt(a == b) }
	case "!=":
		return func(_ *interp, a, b int64) int64 { return boolToInt(a != b) }
	}
	return nil
}

func (p *arithParser) power() expr {
	x := p.unary()
	if p.tok != "**" {
		return x
	}
	p.enter()
	defer func() { p.depth-- }()
	p.next()
	y := p.power()
	bad := p.fault("exponent less than 0", p.start)
	return func(sh *interp) int64 {
		base, n := x(sh), y(sh)
		if n < 0 {
			sh.arithFail(bad)
			return 0
		}
		r := int64(1)
		for ; n > 0; n >>= 1 {
			if n&1 != 0 {
				r *= base
			}
			base *= base
		}
		return r
	}
}

func (p *arithParser) unary() expr {
	op := p.tok
	switch op {
	case "!", "~", "-", "+":
		p.enter()
		defer func() { p.depth-- }()
		p.next()
		x := p.unary()
		switch op {
		case "!":
			return func(sh *interp) int64 { return boolToInt(x(sh) == 0) }
		case "~":
			return func(sh *interp) int64 { return ^x(sh) }
		case "-":
			return func(sh *interp) int64 { return -x(sh) }
		}
		return x
	case "++", "--":
		p.next()
		if p.tok != "v" {
			p.fail("syntax error: operand expected")
		}
		v := p.lvalue()
		p.tok, p.changed = "n", true
		p.next()
		d := int64(1)
		if op == "--" {
			d = -1
		}
		return func(sh *interp) int64 { return v.set(sh, v.get(sh)+d) }
	}
	return p.postfix()
}

func (p *arithParser) postfix() expr {
	switch p.tok {
	case "n":
		n := p.num
		p.next()
		return func(*interp) int64 { return n }
	case "a":
		n := int(p.num)
		p.next()
		stray := p.fault("syntax error: operand expected", p.last)
		return func(sh *interp) int64 {
			if n >= len(sh.arithArgs) { // A script may write the bytes that stand for an argument.
				sh.arithFail(stray)
				return 0
			}
			return sh.arithArgs[n].num
		}
	case "v":
		v := p.lvalue()
		p.next()
		if p.tok != "++" && p.tok != "--" {
			return v.getter()
		}
		d := int64(1)
		if p.tok == "--" {
			d = -1
		}
		p.tok, p.changed = "n", false
		p.next()
		return func(sh *interp) int64 {
			n := v.get(sh)
			v.set(sh, n+d)
			return n
		}
	case "(":
		p.next()
		x := p.comma()
		if p.tok != ")" {
			p.fail("missing `)'")
		}
		p.next()
		return x
	}
	p.fail("syntax error: operand expected")
	return nil
}

// arithWeight is the size of a compiled expression in bytes per byte of its text.
const arithWeight = 100
