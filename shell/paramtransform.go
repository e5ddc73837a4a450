package shell

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/shell/syntax"
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
		p.apply(f, v, quoted, quoteShell)
	case 'Q':
		if !v.set && v.all == 0 {
			return
		}
		p.apply(f, v, quoted, quoteShell)
	case 'E':
		p.apply(f, v, quoted, syntax.ANSI)
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
			v.s = "set -- " + strings.Join(sh.each(v.list, quoteShell), " ")
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
			v.s += "=" + quoteShell(v.s2(sh, p))
		}
	case c.letters() != "":
		v.s = "declare -" + c.letters() + " " + name
		if v.set {
			v.s += "=" + quoteShell(sh.text(c))
		}
	case v.set:
		v.s = name + "=" + quoteShell(sh.text(c))
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
				k = quoteKey(k)
			}
			list = append(list, k, quoteValue(vals[i]))
			continue
		}
		list = append(list, k, vals[i])
	}
	if op == 'K' {
		v.s, v.all = strings.Join(list, " "), 0
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
func changeCase(sh *interp, s string, op byte, all bool, pat *pattern) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if n > 1 && sh.bytewise() {
			r, n = utf8.RuneError, 1
		}
		piece := s[i : i+n]
		if (all || i == 0) && (r != utf8.RuneError || n > 1) && (pat == nil || pat.match(sh, piece)) {
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

// quoteShell quotes as ${x@Q} does.
func quoteShell(s string) string {
	if needsANSI(s) {
		return quoteANSI(s)
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// needsANSI tells whether s has characters that only $'...' can show.
func needsANSI(s string) bool {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || r < ' ' || r == 0x7f || r > 0x7f && !unicode.IsPrint(r) {
			return true
		}
		i += n
	}
	return false
}

// quoteANSI writes s as $'...'.
func quoteANSI(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x80 && strings.IndexByte("\a\b\t\n\v\f\r\x1b", byte(r)) >= 0 && r != 0:
			b.WriteByte('\\')
			b.WriteByte("abtnvfrE"[strings.IndexByte("\a\b\t\n\v\f\r\x1b", byte(r))])
		case r == utf8.RuneError && n == 1 || r < ' ' || r == 0x7f || r > 0x7f && !unicode.IsPrint(r):
			for j := range n {
				b.WriteString(`\` + octal(s[i+j]))
			}
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	b.WriteByte('\'')
	return b.String()
}

func octal(c byte) string {
	s := strconv.FormatUint(uint64(c), 8)
	return "000"[:3-len(s)] + s
}

// quoteValue quotes as declare -p does for elements: always in double quotes.
func quoteValue(s string) string {
	if needsANSI(s) {
		return quoteANSI(s)
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if strings.IndexByte("\"$`\\", s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	b.WriteByte('"')
	return b.String()
}

// quoteKey writes a key as declare -p does: plain when that is safe.
func quoteKey(s string) string {
	if s == "@" || s == "*" || strings.ContainsAny(s, " \t\n'\"\\|&;()<>!{}*[?]^$`") || s == "" || s[0] == '#' || s[0] == '~' || needsANSI(s) {
		return quoteValue(s)
	}
	return s
}
