package shell

import (
	"strings"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/pattern"
)

// expandMode is what an expansion is for.
type expandMode uint8

const (
	forFields  expandMode = iota // arguments: split, then matched with names
	forText                      // one string
	forPattern                   // one pattern: what is quoted is escaped
	forRegex                     // one regular expression, likewise
	forPatsub                    // the string of ${x/y/string}, where & is the match
	forTrace                     // a pattern for set -x: each quoted character is escaped
)

// fields builds what words expand to. Fields go to sh.stack, the other modes leave their text here.
type fields struct {
	sh   *interp
	mode expandMode

	one  string // the text so far, while it came in one piece
	buf  []byte // otherwise
	many bool   // buf is in use

	pat    []byte // the field as a pattern, when it has something to match
	globby bool
	some   bool // the field exists even if it is empty
	ws     bool // the last field ended at white space of IFS
	empty  bool // a list in the double quotes was empty
	joined bool // a list that becomes one text is joined as $* is, though it is $@
	split  bool // literal text splits too: the word of ${x-word}
}

// begin prepares the builder for a word.
func (f *fields) begin(mode expandMode) {
	f.mode, f.one, f.buf, f.many = mode, "", f.buf[:0], false
	f.pat, f.globby, f.some, f.ws, f.empty, f.split = f.pat[:0], false, false, false, false, false
}

// add appends bytes to the text.
func (f *fields) add(s string) {
	switch {
	case s == "":
	case f.many:
		if len(f.buf)+len(s) > cap(f.buf) && !f.room(len(f.buf)+len(s)) {
			return
		}
		f.buf = append(f.buf, s...)
	case f.one == "":
		f.one = s
	default:
		if len(f.one)+len(s) > cap(f.buf) && !f.room(len(f.one)+len(s)) {
			return
		}
		f.buf = append(append(f.buf[:0], f.one...), s...)
		f.many = true
	}
}

// room makes the buffer large enough for n bytes; one that is small counts nothing.
func (f *fields) room(n int) bool {
	if n < 1<<12 {
		return true
	}
	if size := 2 * n; f.sh.hold(size - cap(f.buf)) {
		f.buf = append(make([]byte, 0, size), f.buf...)
		return f.sh.spend(n >> 6)
	}
	return false
}

// text returns what has been added.
func (f *fields) text() string {
	if f.many {
		if len(f.buf) > 1<<12 && !f.sh.hold(len(f.buf)) {
			return ""
		}
		return string(f.buf)
	}
	return f.one
}

func (f *fields) size() int {
	if f.many {
		return len(f.buf)
	}
	return len(f.one)
}

func (f *fields) clear() {
	f.one, f.buf, f.many = "", f.buf[:0], false
	f.pat, f.globby, f.some = f.pat[:0], false, false
}

// quoted appends text that means only itself.
func (f *fields) quoted(s string) {
	switch f.mode {
	case forFields:
		if f.globby {
			f.pat = pattern.AppendEscaped(f.pat, s)
		}
		f.add(s)
	case forText:
		f.add(s)
	case forPattern:
		f.add(pattern.Escape(s))
	case forTrace:
		var b strings.Builder
		for w := range strings.SplitSeq(s, "") {
			b.WriteString(`\` + w)
		}
		f.add(b.String())
	case forPatsub:
		if strings.ContainsAny(s, `&\`) {
			s = strings.NewReplacer(`\`, `\\`, `&`, `\&`).Replace(s)
		}
		f.add(s)
	case forRegex:
		if strings.ContainsAny(s, regexBytes) {
			s = escapeRegex(s)
		}
		f.add(s)
	}
}

// quote appends text in quotes; the field exists then.
func (f *fields) quote(s string) {
	f.quoted(s)
	f.some = true
}

// literal appends text of the script without quotes.
func (f *fields) literal(s string) {
	if f.mode == forFields && f.split {
		f.expanded(s)
		return
	}
	f.active(s)
}

// active appends text that may match but does not split.
func (f *fields) active(s string) {
	if f.mode == forFields {
		if !f.globby && f.sh.globbing(s) {
			f.pat = pattern.AppendEscaped(f.pat[:0], f.text())
			f.globby = true
		}
		if f.globby {
			f.pat = append(f.pat, s...)
		}
		f.some = true
		f.ws = false
	}
	f.add(s)
}

// pattern appends the text of an extended pattern.
func (f *fields) pattern(s string) {
	if f.mode == forFields && !f.globby && f.sh.opt&optNoGlob == 0 {
		f.pat = pattern.AppendEscaped(f.pat[:0], f.text())
		f.globby = true
	}
	f.active(s)
}

// globbing tells whether the text has something to match names with.
func (sh *interp) globbing(s string) bool {
	if sh.opt&optNoGlob != 0 {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '*', '?', '[':
			return true
		case '\\':
			i++
		case '(':
			if i > 0 && sh.shopt&shExtGlob != 0 && strings.IndexByte("+@!", s[i-1]) >= 0 {
				return true
			}
		}
	}
	return false
}

// expanded appends the result of an expansion without quotes.
func (f *fields) expanded(s string) {
	if s == "" {
		return
	}
	if f.mode != forFields {
		f.add(s)
		return
	}
	sh := f.sh
	cls := sh.ifs()
	if sh.ifsWide {
		f.expandWide(s)
		return
	}
	start := 0
	for i := 0; i < len(s); i++ {
		k := cls[s[i]]
		if k == 0 {
			continue
		}
		if i > start {
			f.active(part(s, start, i))
		}
		if f.delimit(k); sh.gas < 0 && !sh.tick() {
			return
		}
		start = i + 1
	}
	if start < len(s) {
		f.active(s[start:])
	}
}

// expandWide splits at an IFS with characters beyond ASCII.
func (f *fields) expandWide(s string) {
	start := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		k := uint8(0)
		if n == 1 {
			k = f.sh.ifsSet[s[i]]
		} else if strings.ContainsRune(f.sh.ifsText, r) {
			k = ifsOther
		}
		if k != 0 {
			if i > start {
				f.active(part(s, start, i))
			}
			if f.delimit(k); !f.sh.tick() {
				return
			}
			start = i + n
		}
		i += n
	}
	if start < len(s) {
		f.active(s[start:])
	}
}

// delimit ends a field at a byte of IFS.
func (f *fields) delimit(k uint8) {
	content := f.some || f.size() > 0
	switch {
	case k == ifsSpace:
		if content {
			f.flush()
			f.ws = true
		}
	case content:
		f.flush()
		f.ws = false
	case f.ws: // "a : b": the blanks belong to the colon
		f.ws = false
	default:
		f.flush()
	}
}

// flush ends the field.
func (f *fields) flush() {
	sh := f.sh
	if f.globby && sh.opt&optNoGlob == 0 {
		sh.glob(string(f.pat), f.text())
	} else {
		if f.many {
			sh.hold(len(f.buf))
		}
		sh.push(f.text())
	}
	sh.gas--
	f.clear()
}

// end ends the word: a field that has something, or had quotes, counts.
func (f *fields) end() {
	if f.some || f.size() > 0 {
		f.flush()
	}
}

// list appends several values, those of $@ or an array; star says that they were written with *.
func (f *fields) list(vals []string, quoted, star bool) {
	sh := f.sh
	if f.mode != forFields || quoted && star {
		sep := " "
		if star || f.joined && f.mode != forFields {
			sep = sh.ifsJoin()
		}
		if len(vals) == 0 && quoted {
			f.empty = !star || f.empty
		}
		for i, v := range vals {
			if i > 0 {
				f.one1(sep, quoted)
			}
			f.one1(v, quoted)
		}
		return
	}
	if quoted {
		if len(vals) == 0 {
			f.empty = true
		}
		for i, v := range vals {
			if i > 0 {
				f.flush()
			}
			if sh.gas < 0 && !sh.tick() {
				return
			}
			f.quoted(v)
			f.some = true
		}
		return
	}
	cls := sh.ifs()
	for i, v := range vals {
		if i > 0 {
			f.between(cls)
		}
		f.expanded(v)
	}
}

// one1 appends one value of a list that becomes one text.
func (f *fields) one1(s string, quoted bool) {
	if quoted {
		f.quoted(s)
	} else {
		f.expanded(s)
	}
}

// between ends a field between two elements as the first byte of IFS would.
func (f *fields) between(cls *[256]uint8) {
	sh := f.sh
	if sh.ifsText == "" {
		if f.some || f.size() > 0 {
			f.flush()
		}
		return
	}
	k := cls[sh.ifsText[0]]
	if k == 0 {
		k = ifsOther
	}
	f.delimit(k)
}

const (
	ifsSpace = 1
	ifsOther = 2
)

// ifs returns what each byte is for splitting.
func (sh *interp) ifs() *[256]uint8 {
	s, ok := sh.value(slotIFS)
	if !ok {
		s = " \t\n"
	}
	if s == sh.ifsText && sh.ifsKnown {
		return &sh.ifsSet
	}
	sh.ifsText, sh.ifsKnown, sh.ifsWide = s, true, false
	sh.ifsSet = [256]uint8{}
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n':
			sh.ifsSet[c] = ifsSpace
		case c >= utf8.RuneSelf && utf8.ValidString(s):
			sh.ifsWide = true
		default:
			sh.ifsSet[c] = ifsOther
		}
	}
	return &sh.ifsSet
}

// ifsJoin returns what "$*" puts between values.
func (sh *interp) ifsJoin() string {
	s, ok := sh.value(slotIFS)
	if !ok {
		return " "
	}
	if s == "" {
		return ""
	}
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

const regexBytes = `\.[]{}()*+?^$|`

func escapeRegex(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(regexBytes, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
