package shell

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/quote"
)

// printNamed is declare -p with names.
func (sh *interp) printNamed(names []string) int {
	st := 0
	var b strings.Builder
	for _, n := range names {
		slot := sh.m.lib.symbols.known(n)
		var c *cell
		if slot >= 0 {
			c = sh.cell(slot)
		}
		if c == nil {
			st = sh.fail("%s: not found", n)
			continue
		}
		b.WriteString(sh.declareText(slot, c, false) + "\n")
	}
	return max(st, sh.outString(b.String()))
}

// declareText is the declare command that makes the variable.
func (sh *interp) declareText(slot int, c *cell, quote bool) string {
	letters := c.letters()
	if letters == "" {
		letters = "-"
	}
	s := "declare -" + letters + " " + sh.m.lib.symbols.name(slot)
	if v, ok := sh.valueText(c, quote); ok {
		s += "=" + v
	}
	return s
}

// valueText is the value as declare -p shows it.
func (sh *interp) valueText(c *cell, _ bool) (string, bool) {
	switch {
	case c.attr&attrDynamic != 0 && c.dyn.list != nil:
		return sh.listText(c.dyn.list(sh)), true
	case c.attr&attrArray != 0:
		if c.attr&attrSet == 0 {
			return "", false
		}
		var b strings.Builder
		b.WriteByte('(')
		for j := range c.arr.Len() {
			if j > 0 {
				b.WriteByte(' ')
			}
			b.WriteString("[" + strconv.FormatInt(c.arr.Key(j), 10) + "]=" + quote.Value(sh.locale(), c.arr.List()[j]))
		}
		b.WriteByte(')')
		return b.String(), true
	case c.attr&attrAssoc != 0:
		if c.attr&attrSet == 0 {
			return "", false
		}
		var b strings.Builder
		b.WriteByte('(')
		for _, k := range c.assoc.Keys(sh.epoch) {
			v, _ := c.assoc.At(k)
			b.WriteString("[" + quote.Key(sh.locale(), k) + "]=" + quote.Value(sh.locale(), v) + " ")
		}
		b.WriteByte(')')
		return b.String(), true
	case !c.isSet():
		return "", false
	}
	return quote.Value(sh.locale(), sh.text(c)), true
}

func (sh *interp) listText(list []string) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, s := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("[" + itoa(i) + "]=" + quote.Value(sh.locale(), s))
	}
	b.WriteByte(')')
	return b.String()
}

// printVars lists the variables with the attributes: all as "name=value" when there are none.
func (sh *interp) printVars(d *declaration, want attr) int {
	if want == 0 && !d.print && d.del == 0 {
		return max(sh.printSet(), 0)
	}
	var b strings.Builder
	for _, n := range sh.allNames() {
		slot := sh.m.lib.symbols.known(n)
		c := sh.cell(slot)
		if c.attr&want != want && (want != attrArray || c.attr&attrDynamic == 0 || c.dyn.list == nil) {
			continue
		}
		if sh.opt&optPosix != 0 && (d.isExport || d.isReadonly) {
			word := "export"
			if d.isReadonly {
				word = "readonly"
			}
			s := word + " " + n
			if v, ok := sh.valueText(c, false); ok {
				s += "=" + v
			}
			b.WriteString(s + "\n")
			continue
		}
		b.WriteString(sh.declareText(slot, c, false) + "\n")
	}
	return sh.outString(b.String())
}

// allNames returns the names of variables, sorted; those that only an attribute makes known too.
func (sh *interp) allNames() []string {
	var list []string
	for slot, c := range sh.vars {
		if c != nil && c.attr&^(attrLocal|attrTemp) != 0 && (c.attr&attrDynamic == 0 || !c.dyn.quiet) {
			list = append(list, sh.m.lib.symbols.name(slot))
		}
	}
	sortStrings(list)
	return list
}

// printSet is set without arguments.
func (sh *interp) printSet() int {
	var b strings.Builder
	for _, n := range sh.allNames() {
		c := sh.cell(sh.m.lib.symbols.known(n))
		switch {
		case c.attr&(attrArray|attrAssoc) != 0, c.attr&attrDynamic != 0 && c.dyn.list != nil:
			if v, ok := sh.valueText(c, false); ok {
				b.WriteString(n + "=" + v + "\n")
			}
		case c.isSet():
			b.WriteString(n + "=" + quote.Assigned(sh.locale(), sh.text(c)) + "\n")
		}
	}
	if sh.opt&optPosix == 0 {
		for _, f := range sh.sortedFuncs() {
			b.WriteString(f.text() + "\n")
		}
	}
	return sh.outString(b.String())
}

// printLocals is local without arguments.
func (sh *interp) printLocals() int {
	var names []string
	for _, s := range sh.saved[sh.localBase():] {
		if !s.temp {
			names = append(names, sh.m.lib.symbols.name(s.slot))
		}
	}
	sortStrings(names)
	var b strings.Builder
	for _, n := range names {
		c := sh.cell(sh.m.lib.symbols.known(n))
		if c == nil || !c.visible() {
			continue
		}
		b.WriteString(sh.declareText(sh.m.lib.symbols.known(n), c, false) + "\n")
	}
	return sh.outString(b.String())
}
