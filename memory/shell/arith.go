package shell

import (
	"strconv"
	"strings"
)

// lvalue is a variable in an expression.
type lvalue struct {
	slot  int
	index bool
	sub   string // may hold arguments
	x     expr   // of an indexed array; nil: the subscript is no expression
	err   *arithError
	start int
}

func (p *arithParser) lvalue() *lvalue {
	if p.seen != nil && p.seen.start == p.start { // Compiled twice at each level it would take time without end.
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

// whole compiles all of the text; the error is nil or why it is no expression.
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
	if !ok && sh.opt&optNoUnset != 0 && !sh.cell(v.slot).isSet() {
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

// withArgs puts the values of the arguments into the text.
func (sh *interp) withArgs(s string) string {
	if strings.IndexByte(s, 1) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == 1 && i+2 < len(s) && int(s[i+1]) < len(sh.arithArgs) {
			b.WriteString(sh.arithArgs[s[i+1]].text)
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
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
		if sh.opt&optNoUnset != 0 {
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
	sh.tellNames(names)
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

// arithText evaluates text; false after an error, which has been told.
func (sh *interp) arithText(s string) (int64, bool) {
	if n, ok := plainInt(s); ok {
		return n, true
	}
	before := sh.arithErr
	sh.arithErr = nil
	n := sh.intText(s)
	err := sh.arithErr
	sh.arithErr = before
	return n, sh.tellArith(err)
}

// tellArith writes the error of an evaluation; true when there is none.
func (sh *interp) tellArith(err *arithError) bool {
	if err == nil {
		return true
	}
	if !err.quiet {
		sh.arithMessage(err)
	}
	if err.fatal {
		sh.arithAbort()
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
	err  *arithError // no expression, whatever the arguments are
	args []wpart
	text string // with arguments marked
}

// eval returns the value; false after an error, which has been told.
func (a *arithCode) eval(sh *interp) (int64, bool) {
	if len(a.args) == 0 {
		if sh.traceArith != "" {
			sh.xtrace(sh.traceArith + a.text + " ))")
			sh.traceArith = ""
		}
		if a.err != nil {
			return 0, sh.tellArith(a.err)
		}
		before := sh.arithErr
		sh.arithErr = nil
		n := a.x(sh)
		if err := sh.arithErr; err != nil {
			sh.arithErr = before
			return 0, sh.tellArith(err)
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
		if sh.unwinding() {
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
	return n, sh.tellArith(err)
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
