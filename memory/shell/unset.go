package shell

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/array"
)

func (sh *interp) unset(args []string) int {
	list, rest, st := sh.flags2(args, "fnv")
	if st >= 0 {
		return st
	}
	funcs, vars, ref := false, false, false
	for _, f := range list {
		switch f.c {
		case 'f':
			funcs = true
		case 'v':
			vars = true
		case 'n':
			ref = true
		}
	}
	if funcs && vars {
		return sh.fail("cannot simultaneously unset a function and a variable")
	}
	st = 0
	for _, name := range rest {
		if !sh.unsetOne(name, funcs, vars, ref) {
			st = 1
		}
	}
	return st
}

func (sh *interp) unsetOne(name string, funcs, vars, ref bool) bool {
	base, sub, elem := splitSubscript(name)
	if funcs {
		return sh.unsetFunction(name)
	}
	if !isName(base) {
		if !vars && !elem {
			return sh.namedFunction(name) == nil || sh.unsetFunction(name)
		}
		sh.fail("`%s': not a valid identifier", name)
		return false
	}
	slot := sh.slot(base)
	if !ref {
		pl, ok := sh.follow(slot)
		if ok && pl.slot != slot {
			slot = pl.slot
			if pl.elem && !elem {
				sub, elem = pl.sub, true
			}
		}
	}
	c := sh.cell(slot)
	if elem {
		return sh.unsetElement(slot, c, base, sub)
	}
	if c == nil || c.attr&^attrLocal == 0 {
		if !vars && sh.namedFunction(name) != nil {
			return sh.unsetFunction(name)
		}
		if c == nil {
			return true
		}
	}
	if !sh.unsetVar(slot) {
		sh.fail("%s: cannot unset: readonly variable", base)
		return false
	}
	if slot == slotPOSIXLY {
		sh.opt &^= optPosix
	}
	return true
}

func (sh *interp) unsetFunction(name string) bool {
	f := sh.namedFunction(name)
	if f == nil {
		return true
	}
	if f.readonly {
		sh.fail("%s: cannot unset: readonly function", name)
		return false
	}
	sh.setFunction(sh.slot(name), nil)
	return true
}

func (sh *interp) unsetElement(slot int, c *cell, name, sub string) bool {
	switch {
	case c == nil:
		return true
	case c.attr&attrReadonly != 0:
		sh.fail("%s: cannot unset: readonly variable", name)
		return false
	case c.attr&attrAssoc != 0:
		key := sub
		if sub != "@" && sub != "*" || sh.hasKey(c, sub) {
			if key != "@" && key != "*" {
				key = sh.expandText(sub)
			}
			c = sh.own(slot)
			if v, ok := c.assoc.At(key); ok {
				sh.table(c).Unset(key)
				sh.tell(c, -keyWeight-len(key)-len(v))
			}
			return true
		}
		return sh.unsetVar(slot)
	case strings.TrimSpace(sub) == "":
		return true
	case sub == "@" || sub == "*":
		if c.attr&attrArray == 0 {
			return sh.unsetVar(slot)
		}
		c = sh.own(slot)
		sh.empty(c)
		c.arr = array.NewIndexed(nil, sh.epoch)
		return true
	}
	i, ok := sh.subscriptText(sub)
	if !ok {
		return false
	}
	if c.attr&attrArray == 0 {
		if i == 0 || i == -1 {
			return sh.unsetVar(slot)
		}
		sh.fail("%s: not an array variable", name)
		return false
	}
	if i < 0 {
		if i += c.arr.End(); i < 0 {
			sh.fail("[%s]: bad array subscript", strings.TrimSpace(sub))
			return false
		}
	}
	if v, ok := c.arr.At(i); ok {
		c = sh.own(slot)
		a := sh.array(c)
		if !sh.spend(a.Moves(i)) {
			return false
		}
		a.Unset(i)
		sh.tell(c, -elemWeight-len(v))
	}
	return true
}

func (sh *interp) hasKey(c *cell, key string) bool {
	_, ok := c.assoc.At(key)
	return ok
}

func (sh *interp) let(args []string) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	args = args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return sh.fail("expression expected")
	}
	var n int64
	for _, a := range args {
		var ok bool
		if n, ok = sh.arithText(a); !ok {
			return 1
		}
	}
	if n == 0 {
		return 1
	}
	return 0
}
