package shell

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/pattern"
	"github.com/seed434b0696/agent-sandbox/internal/memory/quote"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

func sortStrings(list []string) { slices.Sort(list) }

// transform is ${x@op}.
func (p *paramPart) transform(f *fields, v pval, quoted bool) {
	sh := f.sh
	switch op := p.op[1]; op {
	case 'a':
		p.attributes(f, v, quoted)
		return
	case 'A':
		p.declaration(f, v, quoted)
		return
	case 'K', 'k':
		if v.all != 0 && v.slot >= 0 {
			p.pairs(f, v, quoted, op)
			return
		}
		if !v.set && v.all == 0 {
			return
		}
		p.apply(f, v, quoted, sh.quoteShell)
	case 'Q':
		if !v.set && v.all == 0 {
			return
		}
		p.apply(f, v, quoted, sh.quoteShell)
	case 'E':
		p.apply(f, v, quoted, func(s string) string { return syntax.ANSI(s, sh.encoded) })
	case 'P':
		p.apply(f, v, quoted, sh.prompt)
	case 'U':
		p.apply(f, v, quoted, toUpper)
	case 'u':
		p.apply(f, v, quoted, func(s string) string { return changeCase(sh, s, '^', false, nil) })
	case 'L':
		p.apply(f, v, quoted, toLower)
	case '?':
		if v.set || v.all != 0 && len(v.list) > 0 {
			sh.errorf("%s: bad substitution", p.text)
			sh.fatal()
		}
	}
}

func (p *paramPart) apply(f *fields, v pval, quoted bool, change func(string) string) {
	sh := f.sh
	if v.all != 0 {
		v.list = sh.each(v.list, change)
	} else {
		v.s = sh.changed(v.s, change)
	}
	f.value(v, quoted)
}

// changed applies a change that makes a text up to some times as long.
func (sh *interp) changed(s string, change func(string) string) string {
	if len(s) > 1<<12 && (!sh.room(6*len(s)) || !sh.spend(len(s)>>4)) {
		return ""
	}
	s = change(s)
	if len(s) > 1<<12 {
		sh.hold(len(s))
	}
	return s
}

// attributes is ${x@a}.
func (p *paramPart) attributes(f *fields, v pval, quoted bool) {
	sh := f.sh
	if v.slot < 0 {
		if v.all != 0 {
			v.list = sh.each(v.list, func(string) string { return "" })
			f.value(v, quoted)
		}
		return
	}
	c := sh.cell(v.slot)
	if c == nil {
		if v.all == '@' {
			f.list(nil, quoted, false)
		} else if sh.opt&optNoUnset != 0 && v.all == 0 {
			sh.unbound(p.paramText())
		}
		return
	}
	letters := c.letters()
	if v.all != 0 {
		v.list = sh.each(v.list, func(string) string { return letters })
		f.value(v, quoted)
		return
	}
	v.s = letters
	f.value(v, quoted)
}

// letters are the attributes as declare shows them.
func (c *cell) letters() string {
	var b []byte
	for _, a := range attrLetters {
		if c.attr&a.bit != 0 {
			b = append(b, a.letter)
		}
	}
	if c.attr&attrDynamic != 0 && c.dyn.list != nil {
		b = append([]byte{'a'}, b...)
	}
	return string(b)
}

var attrLetters = []struct {
	bit    attr
	letter byte
}{
	{attrArray, 'a'},
	{attrAssoc, 'A'},
	{attrInteger, 'i'},
	{attrRef, 'n'},
	{attrReadonly, 'r'},
	{attrTrace, 't'},
	{attrExport, 'x'},
	{attrCapital, 'c'},
	{attrLower, 'l'},
	{attrUpper, 'u'},
}

// declaration is ${x@A}: a command that makes the variable.
func (p *paramPart) declaration(f *fields, v pval, quoted bool) {
	sh := f.sh
	if v.slot < 0 {
		if p.kind == paramAll && len(v.list) > 0 {
			v.s = "set -- " + strings.Join(sh.each(v.list, sh.quoteShell), " ")
			v.all = 0
			f.value(v, quoted)
		}
		return
	}
	c := sh.cell(v.slot)
	if c == nil {
		return
	}
	name := sh.m.lib.symbols.name(v.slot)
	switch {
	case v.all != 0:
		v.s = sh.declareText(v.slot, c, true)
	case c.attr&(attrArray|attrAssoc) != 0:
		v.s = "declare -" + c.letters() + " " + name
		if v.set {
			v.s += "=" + sh.quoteShell(v.s2(sh, p))
		}
	case c.letters() != "":
		v.s = "declare -" + c.letters() + " " + name
		if v.set {
			v.s += "=" + sh.quoteShell(sh.text(c))
		}
	case v.set:
		v.s = name + "=" + sh.quoteShell(sh.text(c))
	default:
		return
	}
	v.all = 0
	f.value(v, quoted)
}

func (v *pval) s2(sh *interp, p *paramPart) string {
	b := p.base(sh)
	return b.s
}

// pairs is ${a[@]@K}: keys and values.
func (p *paramPart) pairs(f *fields, v pval, quoted bool, op byte) {
	sh := f.sh
	keys, vals := sh.keys(v.slot), v.list
	list := make([]string, 0, 2*len(keys))
	for i, k := range keys {
		if op == 'K' {
			if sh.isAssoc(v.slot) {
				k = quote.Key(sh.locale(), k)
			}
			list = append(list, k, quote.Value(sh.locale(), vals[i]))
			continue
		}
		list = append(list, k, vals[i])
	}
	if op == 'K' {
		v.s, v.all = strings.Join(list, " "), 0
		if sh.isAssoc(v.slot) && len(list) > 0 {
			v.s += " "
		}
	} else {
		v.list = list
	}
	f.value(v, quoted)
}

// substring cuts characters; false: the length leads before the start.
func (sh *interp) substring(s string, off, size int64, have bool) (string, bool) {
	n := int64(sh.runeCount(s))
	if off < 0 {
		if off += n; off < 0 {
			return "", true
		}
	}
	if off > n {
		return "", true
	}
	end := n
	if have {
		switch {
		case size < 0:
			if end = n + size; end < off {
				return "", false
			}
		case size < n-off:
			end = off + size
		}
	}
	if n == int64(len(s)) {
		return part(s, int(off), int(end)), true
	}
	from := byteOffset(s, off)
	return part(s, from, from+byteOffset(s[from:], end-off)), true
}

// byteOffset returns where the n-th character begins.
func byteOffset(s string, n int64) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return i
}

func toLower(s string) string { return mapCase(s, unicode.ToLower) }
func toUpper(s string) string { return mapCase(s, unicode.ToUpper) }

// mapCase keeps bytes that are no UTF-8, which strings.Map would replace.
func mapCase(s string, f func(rune) rune) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b.WriteByte(s[i])
		} else {
			b.WriteRune(f(r))
		}
		i += n
	}
	return b.String()
}

func capitalize(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return toUpper(s[:n]) + toLower(s[n:])
}

// changeCase is ${x^pattern} and its like.
func changeCase(sh *interp, s string, op byte, all bool, pat *pattern.Pattern) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if n > 1 && sh.bytewise() {
			r, n = utf8.RuneError, 1
		}
		piece := s[i : i+n]
		if (all || i == 0) && (r != utf8.RuneError || n > 1) && (pat == nil || pat.Match(work{sh}, piece)) {
			switch {
			case op == '^', op == '~' && unicode.IsLower(r):
				piece = string(unicode.ToUpper(r))
			default:
				piece = string(unicode.ToLower(r))
			}
		}
		b.WriteString(piece)
		i += n
		if !all {
			b.WriteString(s[i:])
			break
		}
	}
	return b.String()
}
