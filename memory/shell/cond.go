package shell

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/pattern"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// test is a compiled expression of [[ ]]; an error sets sh.condErr.
type test func(sh *interp) bool

func (c *compiler) condCommand(n *syntax.CondCmd, cmd *syntax.Command) command {
	x := c.cond(n.X)
	line := cmd.Line
	text := func() string { return syntax.CommandText(cmd) }
	return func(sh *interp) int {
		if !sh.tick() {
			return sh.status
		}
		sh.line = line
		if sh.tracing() {
			if sh.traced(line, text); sh.ctl != ctlNone {
				return sh.status
			}
		}
		sh.condErr = 0
		ok := x(sh)
		switch {
		case sh.ctl != ctlNone:
			return sh.status
		case sh.condErr != 0:
			sh.status = sh.condErr
		case ok:
			sh.status = 0
		default:
			sh.status = 1
		}
		return sh.status
	}
}

func (c *compiler) cond(n syntax.Cond) test {
	switch n := n.(type) {
	case *syntax.CondGroup:
		return c.cond(n.X)
	case *syntax.CondNot:
		x := c.cond(n.X)
		return func(sh *interp) bool {
			sh.condNot = !sh.condNot
			ok := x(sh)
			sh.condNot = false
			return !ok && sh.condErr == 0
		}
	case *syntax.CondLogic:
		x, y := c.cond(n.X), c.cond(n.Y)
		if n.Or {
			return func(sh *interp) bool { return x(sh) || sh.condErr == 0 && sh.ctl == ctlNone && y(sh) }
		}
		return func(sh *interp) bool { return x(sh) && sh.ctl == ctlNone && y(sh) }
	case *syntax.CondWord:
		w := c.word(n.X, wordTilde)
		return func(sh *interp) bool {
			s := sh.str(w)
			sh.traceCond("-n", s)
			return s != ""
		}
	case *syntax.CondUnary:
		return c.condUnary(n)
	case *syntax.CondBinary:
		return c.condBinary(n)
	}
	return func(*interp) bool { return false }
}

func (c *compiler) condUnary(n *syntax.CondUnary) test {
	w, op := c.word(n.X, wordTilde), n.Op
	return func(sh *interp) bool {
		s := sh.str(w)
		if sh.ctl != ctlNone {
			return false
		}
		sh.traceCond(op, s)
		return sh.unaryTest(op[1], s)
	}
}

func (c *compiler) condBinary(n *syntax.CondBinary) test {
	x, y := c.word(n.X, wordTilde), c.word(n.Y, wordTilde)
	switch n.Op {
	case "=", "==", "!=":
		return c.condMatch(x, y, n.Op)
	case "=~":
		return func(sh *interp) bool { return sh.condRegex(x, y) }
	case "<", ">":
		less := n.Op == "<"
		return func(sh *interp) bool {
			a, b := sh.str(x), sh.str(y)
			sh.traceCond2(a, n.Op, b)
			if less {
				return a < b
			}
			return a > b
		}
	case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
		op := n.Op
		return func(sh *interp) bool {
			a, b := sh.str(x), sh.str(y)
			if sh.ctl != ctlNone {
				return false
			}
			sh.traceCond2(a, op, b)
			before := sh.builtinName
			sh.builtinName = "[["
			m, ok := sh.arithText(strings.TrimSpace(a))
			k := int64(0)
			if ok {
				k, ok = sh.arithText(strings.TrimSpace(b))
			}
			sh.builtinName = before
			if !ok {
				sh.condErr = 1
				return false
			}
			return compareInts(op, m, k)
		}
	}
	op := n.Op
	return func(sh *interp) bool {
		a, b := sh.str(x), sh.str(y)
		sh.traceCond2(a, op, b)
		return sh.compareFiles(op, a, b)
	}
}

func compareInts(op string, a, b int64) bool {
	switch op {
	case "-eq":
		return a == b
	case "-ne":
		return a != b
	case "-lt":
		return a < b
	case "-le":
		return a <= b
	case "-gt":
		return a > b
	}
	return a >= b
}

// condMatch matches the left side with the pattern on the right.
func (c *compiler) condMatch(x, y *word, op string) test {
	not := op == "!="
	plain := y.constant && !strings.ContainsAny(y.text, `*?[\'"(`)
	return func(sh *interp) bool {
		s := sh.str(x)
		if sh.ctl != ctlNone {
			return false
		}
		fold := sh.shopt&shNoCaseMatch != 0
		if plain && !fold && sh.opt&optXTrace == 0 {
			return (s == y.lit) != not
		}
		mode := forPattern
		if sh.opt&optXTrace != 0 {
			mode = forTrace
		}
		text := sh.expandParts(y.parts, mode)
		if sh.ctl != ctlNone {
			return false
		}
		sh.traceCond2(s, op, text)
		flags := pattern.Ext | sh.localeFlags()
		if fold {
			flags |= pattern.Fold
		}
		return sh.patternOf(text, flags).Match(work{sh}, s) != not
	}
}

// condRegex is =~ ; what matched goes to BASH_REMATCH.
func (sh *interp) condRegex(x, y *word) bool {
	s := sh.str(x)
	text := sh.expandParts(y.parts, forRegex)
	if sh.ctl != ctlNone {
		return false
	}
	sh.traceCond2(s, "=~", text)
	groups, ok, err := sh.matchRegex(text, s)
	if err != nil {
		sh.condErr = 2
		return false
	}
	sh.setList(slotBASHREMATCH, groups)
	return ok
}

func (sh *interp) traceCond(op, s string) {
	if sh.opt&optXTrace != 0 {
		sh.xtrace(sh.condHead() + op + " " + condShown(s) + " ]]")
	}
}

func (sh *interp) traceCond2(a, op, b string) {
	if sh.opt&optXTrace == 0 {
		return
	}
	if b == "" || op != "==" && op != "=~" && op != "!=" && op != "=" {
		b = condShown(b)
	}
	sh.xtrace(sh.condHead() + condShown(a) + " " + op + " " + b + " ]]")
}

// condShown is an operand as set -x shows it: as it is.
func condShown(s string) string {
	if s == "" {
		return "''"
	}
	return s
}

// condHead is what a traced test begins with.
func (sh *interp) condHead() string {
	if sh.condNot {
		return "[[ ! "
	}
	return "[[ "
}
