package shell

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
		all.links = append(all.links, link{op: ",", x: p.assign()})
	}
	return all.eval
}

// assign is conditional [op= assign]; only a variable may stand on the left.
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
	at := p.start // Of what stands behind it, as bash shows it.
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
		long.links = append(long.links, link{op, p.binaryOp(op, at), b})
	}
}

// maxJoined is how many operators become closures inside each other; a longer chain is one closure,
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
			n = truth(n != 0 || l.x(sh) != 0)
		case "&&":
			n = truth(n != 0 && l.x(sh) != 0)
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
		return func(sh *interp) int64 { return truth(a(sh) != 0 || b(sh) != 0) }
	case "&&":
		return func(sh *interp) int64 { return truth(a(sh) != 0 && b(sh) != 0) }
	case "+":
		return func(sh *interp) int64 { n := a(sh); return n + b(sh) }
	case "-":
		return func(sh *interp) int64 { n := a(sh); return n - b(sh) }
	case "*":
		return func(sh *interp) int64 { n := a(sh); return n * b(sh) }
	case "<":
		return func(sh *interp) int64 { n := a(sh); return truth(n < b(sh)) }
	case ">":
		return func(sh *interp) int64 { n := a(sh); return truth(n > b(sh)) }
	case "<=":
		return func(sh *interp) int64 { n := a(sh); return truth(n <= b(sh)) }
	case ">=":
		return func(sh *interp) int64 { n := a(sh); return truth(n >= b(sh)) }
	case "==":
		return func(sh *interp) int64 { n := a(sh); return truth(n == b(sh)) }
	case "!=":
		return func(sh *interp) int64 { n := a(sh); return truth(n != b(sh)) }
	}
	f := p.binaryOp(op, at)
	return func(sh *interp) int64 { n := a(sh); return f(sh, n, b(sh)) }
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// binaryOp returns the operation on numbers; at is where the right operand stands.
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
		return func(_ *interp, a, b int64) int64 { return truth(a < b) }
	case ">":
		return func(_ *interp, a, b int64) int64 { return truth(a > b) }
	case "<=":
		return func(_ *interp, a, b int64) int64 { return truth(a <= b) }
	case ">=":
		return func(_ *interp, a, b int64) int64 { return truth(a >= b) }
	case "==":
		return func(_ *interp, a, b int64) int64 { return truth(a == b) }
	case "!=":
		return func(_ *interp, a, b int64) int64 { return truth(a != b) }
	}
	return nil
}

// arithFail notes the first error of an evaluation.
func (sh *interp) arithFail(err *arithError) {
	if sh.arithErr == nil {
		sh.arithErr = err
	}
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
			return func(sh *interp) int64 { return truth(x(sh) == 0) }
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
