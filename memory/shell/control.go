package shell

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/pattern"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

func (c *compiler) ifClause(n *syntax.If) command {
	conds := make([]command, len(n.Conds))
	thens := make([]command, len(n.Conds))
	for i := range n.Conds {
		conds[i], thens[i] = c.list(n.Conds[i]), c.list(n.Thens[i])
	}
	var otherwise command
	if n.Else != nil {
		otherwise = c.list(n.Else)
	}
	return func(sh *interp) int {
		for i, cond := range conds {
			sh.noErrExit++
			st := cond(sh)
			sh.noErrExit--
			if sh.ctl != ctlNone {
				return st
			}
			if st == 0 {
				return thens[i](sh)
			}
		}
		if otherwise != nil {
			return otherwise(sh)
		}
		sh.status = 0
		return 0
	}
}

// leave tells a loop what the control state asks of it, after its body or condition.
func (sh *interp) leave() (stop bool) {
	switch sh.ctl {
	case ctlNone:
		return false
	case ctlBreak:
		if sh.ctlN--; sh.ctlN <= 0 {
			sh.ctl = ctlNone
		}
		return true
	case ctlContinue:
		if sh.ctlN--; sh.ctlN <= 0 {
			sh.ctl = ctlNone
			return false
		}
	default:
	}
	return true
}

func (c *compiler) loop(n *syntax.Loop) command {
	cond, body, until := c.list(n.Cond), c.list(n.Body), n.Until
	return func(sh *interp) int {
		sh.loops++
		st := 0
		for sh.tick() {
			sh.noErrExit++
			cs := cond(sh)
			sh.noErrExit--
			if sh.ctl != ctlNone {
				if sh.leave() {
					break
				}
				continue
			}
			if (cs == 0) == until {
				break
			}
			if st = body(sh); sh.ctl != ctlNone && sh.leave() {
				break
			}
		}
		sh.loops--
		if sh.ctl == ctlNone {
			sh.status = st
		}
		return sh.status
	}
}

func (c *compiler) forLoop(n *syntax.For, line int) command {
	body := c.list(n.Body)
	words := c.words(n.Words)
	name, in := n.Name, n.In
	valid := isName(name)
	slot := 0
	if valid {
		slot = c.lib.symbols.slot(name)
	}
	text := forHead(n)
	return func(sh *interp) int {
		sh.line = line
		if !valid {
			sh.errorf("`%s': not a valid identifier", name)
			sh.status = 1
			return 1
		}
		base, undo := len(sh.stack), len(sh.undo)
		if in {
			for _, w := range words {
				if sh.fields(w); sh.ctl != ctlNone {
					sh.stack = sh.stack[:base]
					sh.undoRedirs(undo)
					return sh.status
				}
			}
		} else {
			sh.pushAll(sh.params)
		}
		list := sh.stack[base:]
		sh.loops++
		st := 0
		for i := range list {
			if !sh.tick() {
				break
			}
			if sh.traced(line, text) && sh.ctl != ctlNone {
				break
			}
			if sh.opt&optXTrace != 0 {
				sh.xtrace(text())
			}
			if !sh.assignLoop(slot, list[i]) {
				st = 1
				break
			}
			if st = body(sh); sh.ctl != ctlNone && sh.leave() {
				break
			}
		}
		sh.loops--
		clear(sh.stack[base:])
		sh.stack = sh.stack[:base]
		sh.undoRedirs(undo)
		if sh.ctl == ctlNone {
			sh.status = st
		}
		return sh.status
	}
}

// assignLoop sets the variable of a loop; a reference is pointed at each name in turn.
func (sh *interp) assignLoop(slot int, s string) bool {
	if c := sh.cell(slot); c != nil && c.attr&attrRef != 0 {
		name, _, _ := splitSubscript(s)
		if !isName(name) {
			sh.errorf("`%s': not a valid identifier", s)
			return false
		}
		return sh.setText(sh.own(slot), s)
	}
	if c := sh.cell(slot); c != nil && c.attr&attrReadonly != 0 {
		sh.readonlyError(slot)
		return false
	}
	if sh.assign(slot, s) {
		return true
	}
	if sh.ctl == ctlNone {
		sh.abort()
	}
	return false
}

func (c *compiler) cFor(n *syntax.CFor, line int) command {
	body := c.list(n.Body)
	part := func(a *syntax.Arith) *arithCode {
		if a == nil {
			return nil
		}
		return c.arith(a)
	}
	first, cond, post := part(n.Init), part(n.Cond), part(n.Post)
	return func(sh *interp) int {
		sh.line = line
		if first != nil {
			if _, ok := sh.evalFor(first); !ok {
				return sh.status
			}
		}
		sh.loops++
		st := 0
		for sh.tick() {
			if cond != nil {
				n, ok := sh.evalFor(cond)
				if !ok {
					st = 1
					break
				}
				if n == 0 {
					break
				}
			}
			if st = body(sh); sh.ctl != ctlNone && sh.leave() {
				break
			}
			if post != nil {
				if _, ok := sh.evalFor(post); !ok {
					st = 1
					break
				}
			}
		}
		sh.loops--
		if sh.ctl == ctlNone {
			sh.status = st
		}
		return sh.status
	}
}

// evalFor evaluates an expression of for ((...)).
func (sh *interp) evalFor(a *arithCode) (int64, bool) {
	if sh.opt&optXTrace != 0 {
		sh.traceArith = "(( "
	}
	before := sh.builtinName
	sh.builtinName = "(("
	v, ok := a.eval(sh)
	sh.builtinName = before
	if !ok {
		sh.status = 1
	}
	return v, ok
}

// casePattern is a pattern of a case, compiled at once when it is constant.
type casePattern struct {
	w   *word
	lit string
	ok  bool // lit is all of it
}

func (c *compiler) caseClause(n *syntax.Case, line int) command {
	subject := c.word(n.Word, wordTilde)
	type branch struct {
		pats []casePattern
		body command
		end  string
	}
	branches := make([]branch, len(n.Clauses))
	for i, cl := range n.Clauses {
		b := branch{body: c.list(cl.Body), end: cl.End}
		for _, w := range cl.Patterns {
			p := casePattern{w: c.word(w, wordTilde)}
			if p.w.constant && !strings.ContainsAny(w.Text, `*?[\`) && !strings.Contains(w.Text, "(") {
				p.lit, p.ok = p.w.lit, true
			}
			b.pats = append(b.pats, p)
		}
		branches[i] = b
	}
	text := caseText(n)
	return func(sh *interp) int {
		sh.line = line
		sh.traced(line, text)
		if sh.opt&optXTrace != 0 {
			sh.xtrace(strings.TrimSuffix(text(), " "))
		}
		sh.substRan = false
		s := sh.str(subject)
		if sh.ctl != ctlNone {
			return sh.status
		}
		if !sh.substRan {
			sh.status = 0
		}
		through := false
		for _, b := range branches {
			if !through && !sh.matchCase(b.pats, s) {
				if sh.ctl != ctlNone {
					return sh.status
				}
				continue
			}
			st := b.body(sh)
			if sh.ctl != ctlNone || b.end == ";;" || b.end == "esac" {
				return st
			}
			through = b.end == ";&"
		}
		return sh.status
	}
}

func (sh *interp) matchCase(pats []casePattern, s string) bool {
	fold := sh.shopt&shNoCaseMatch != 0
	for i := range pats {
		p := &pats[i]
		if p.ok && !fold {
			if p.lit == s {
				return true
			}
			continue
		}
		flags := sh.localeFlags()
		if fold {
			flags = pattern.Fold
		}
		pat := sh.wordPattern(p.w, flags)
		if sh.ctl != ctlNone {
			return false
		}
		if pat.Match(work{sh}, s) {
			return true
		}
	}
	return false
}

func (c *compiler) arithCommand(n *syntax.ArithCmd, cmd *syntax.Command) command {
	code, line := c.arith(n.X), cmd.Line
	lead, text := n.X.Lead, n.X.Text
	return func(sh *interp) int {
		if !sh.tick() {
			return sh.status
		}
		sh.line = line
		if sh.tracing() {
			sh.traced(line, func() string { return "((" + text + "))" })
			if sh.ctl != ctlNone {
				return sh.status
			}
			if sh.opt&optXTrace != 0 {
				sh.traceArith = "(( " + lead
			}
		}
		before := sh.builtinName
		sh.builtinName = "(("
		v, ok := code.eval(sh)
		sh.builtinName = before
		if sh.ctl != ctlNone {
			return sh.status
		}
		sh.status = 0
		if !ok || v == 0 {
			sh.status = 1
		}
		return sh.status
	}
}

func (c *compiler) words(list []*syntax.Word) []*word {
	out := make([]*word, len(list))
	for i, w := range list {
		out[i] = c.word(w, wordArg)
	}
	return out
}
