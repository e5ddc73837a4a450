package interpreter

// The special variables have these slots. The machine has hooks for those before hookedSlots, which it calls
// when they change, or computes their values when they are read.
const (
	slotNF = iota
	slotNR
	slotFNR
	slotFS
	slotOFS
	slotORS
	slotRS
	slotSUBSEP
	slotCONVFMT
	slotOFMT
	slotFIELDWIDTHS
	slotFPAT
	slotIGNORECASE
	hookedSlots
)

const (
	slotRSTART = hookedSlots + iota
	slotRLENGTH
	slotFILENAME
	slotRT
	slotERRNO
	slotARGC
	slotARGIND
	slotBINMODE
	slotLINT
	slotTEXTDOMAIN
	ownSlots
)

// ownNames are the names of the slots.
var ownNames = [ownSlots]string{
	"NF", "NR", "FNR", "FS", "OFS", "ORS", "RS", "SUBSEP", "CONVFMT", "OFMT", "FIELDWIDTHS", "FPAT", "IGNORECASE",
	"RSTART", "RLENGTH", "FILENAME", "RT", "ERRNO", "ARGC", "ARGIND", "BINMODE", "LINT", "TEXTDOMAIN",
}

// The arrays that the machine fills.
const (
	arrayENVIRON = iota
	arrayARGV
	arrayPROCINFO
	ownArrays
)

var ownArrayNames = [ownArrays]string{"ENVIRON", "ARGV", "PROCINFO"}

// mark records whether a variable is an array.
func (p *parser) mark(x node, isArr bool) {
	n, ok := x.(*nameNode)
	if !ok {
		return
	}
	s := n.sym
	if !s.known {
		s.known, s.isArr = true, isArr
		return
	}
	if s.isArr != isArr {
		p.misuse(n)
	}
}

// misuse reports an array that is used as a scalar, or the other way round.
func (p *parser) misuse(n *nameNode) {
	what := ""
	if n.sym.local {
		what = " parameter"
	}
	if n.sym.isArr {
		if !n.sym.local {
			what = " array"
		}
		p.failBare(n.pos, "fatal: attempt to use array%s `%s' in a scalar context", what[:len(what)*b2i(n.sym.local)], n.name)
	}
	p.failBare(n.pos, "fatal: attempt to use scalar%s `%s' as an array", what, n.name)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *parser) isArray(x node) {
	if g, ok := x.(*groupNode); ok {
		x = g.x
	}
	p.mark(x, true)
}

func (p *parser) isScalar(x node) { p.mark(x, false) }

// resolve finds out which variables are arrays, through calls too, and gives out slots.
func (p *parser) resolve() error {
	for i, name := range ownNames {
		s := p.prog.global(name)
		s.slot = i
		if s.known && s.isArr {
			return &syntaxError{text: "fatal: attempt to use scalar `" + name + "' as an array", bare: true}
		}
		s.known = true
	}
	for _, name := range ownArrayNames {
		s := p.prog.global(name)
		if s.known && !s.isArr {
			return &syntaxError{text: "fatal: attempt to use array `" + name + "' in a scalar context", bare: true}
		}
		s.known, s.isArr = true, true
	}
	p.linkCalls()
	p.spread()
	for _, f := range p.prog.order {
		for _, s := range f.params {
			if s.isArr {
				s.slot = f.arrays
				f.arrays++
			} else {
				s.slot = f.scalars
				f.scalars++
			}
		}
	}
	return nil
}

// linkCalls checks calls, and ties variables that are passed to the parameters that take them.
func (p *parser) linkCalls() {
	for _, c := range p.calls {
		if c.fn == nil && p.prog.globals[c.name] != nil {
			p.failBare(c.pos, "error: attempt to use non-function `%s' in function call", c.name)
		}
		if c.fn == nil {
			p.failBare(c.pos, "fatal: function `%s' not defined", c.name)
		}
		if len(c.args) > len(c.fn.params) {
			p.failBare(c.pos, "fatal: function `%s' called with more arguments than declared", c.name)
		}
		for i, a := range c.args {
			param := c.fn.params[i]
			switch a := a.(type) {
			case *nameNode:
				a.sym.links = append(a.sym.links, param)
				param.links = append(param.links, a.sym)
			}
		}
	}
}

// spread propagates known kinds along the links.
func (p *parser) spread() {
	var queue []*symbol
	for _, c := range p.calls {
		for i := range c.args {
			if s := c.fn.params[i]; s.known && s.isArr {
				queue = append(queue, s)
			}
			if n, ok := c.args[i].(*nameNode); ok && n.sym.known && n.sym.isArr {
				queue = append(queue, n.sym)
			}
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, o := range s.links {
			if o.known {
				continue
			}
			o.known, o.isArr = true, true
			queue = append(queue, o)
		}
	}
}
