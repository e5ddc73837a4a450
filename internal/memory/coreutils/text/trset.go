package text

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// trItem is a byte of a set; class is u or l when it comes from [:upper:] or [:lower:],
// and begins is set where that began.
type trItem struct {
	c      byte
	class  byte
	begins bool
}

// trSet is a string of tr's, written out.
type trSet struct {
	items   []trItem
	fill    int // place of [c*], -1 for none
	fills   int
	fillBy  byte
	classes bool // has a class other than upper and lower
	equal   bool // has [=c=]
	ends    bool // ends with a class
	turned  bool
	charged int // elements that the machine has counted
}

func (s *trSet) put(c byte) {
	s.items = append(s.items, trItem{c: c})
	s.ends = false
}

// charge counts what the set has grown by since the last call.
func (s *trSet) charge(p *shell.Proc) bool {
	if n := cap(s.items); n > s.charged {
		if p.Reserve(3*(n-s.charged)) != nil || p.Spend(n-s.charged) != nil {
			return false
		}
		s.charged = n
	}
	return true
}

// trReader reads a string; a byte that was written with a backslash is never special.
type trReader struct {
	p    *shell.Proc
	c    []byte
	free []bool // not escaped
}

// parseTrSet reads a string; fault is its error.
func parseTrSet(p *shell.Proc, s string) (set *trSet, fault string) {
	r := &trReader{p: p}
	r.unescape(s)
	set = &trSet{fill: -1}
	for i := 0; i < len(r.c); {
		if !set.charge(p) {
			return nil, "memory exhausted"
		}
		n, fault := r.bracket(set, i)
		if fault != "" {
			return nil, fault
		}
		if n > 0 {
			i += n
			continue
		}
		if i+2 < len(r.c) && r.is(i+1, '-') {
			lo, hi := r.c[i], r.c[i+2]
			if lo > hi {
				return nil, "range-endpoints of '" + trShow(lo) + "-" + trShow(hi) + "' are in reverse collating sequence order"
			}
			for c := int(lo); c <= int(hi); c++ {
				set.put(byte(c))
			}
			i += 3
			continue
		}
		set.put(r.c[i])
		i++
	}
	return set, ""
}

func trShow(c byte) string {
	if c > ' ' && c < 127 || c == ' ' {
		return string(c)
	}
	return "\\" + string([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7})
}

// is reports whether an unescaped c is at i.
func (r *trReader) is(i int, c byte) bool { return i < len(r.c) && r.c[i] == c && r.free[i] }

func (r *trReader) put(c byte, free bool) {
	r.c = append(r.c, c)
	r.free = append(r.free, free)
}

func (r *trReader) unescape(s string) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			r.put(s[i], true)
			continue
		}
		if i++; i == len(s) {
			r.p.Warn("warning: an unescaped backslash at end of string is not portable")
			r.put('\\', true)
			return
		}
		if k := strings.IndexByte("abfnrtv", s[i]); k >= 0 {
			r.put("\a\b\f\n\r\t\v"[k], false)
			continue
		}
		n, end := 0, i
		for end < len(s) && end < i+3 && s[end] >= '0' && s[end] <= '7' {
			if next := n*8 + int(s[end]-'0'); next > 255 {
				r.p.Warn("warning: the ambiguous octal escape \\%s is being\n\tinterpreted as the 2-byte sequence \\0%s, %c", s[i:end+1], s[i:end], s[end])
				break
			}
			n = n*8 + int(s[end]-'0')
			end++
		}
		if end == i {
			r.put(s[i], false)
			continue
		}
		r.put(byte(n), false)
		i = end - 1
	}
}

// bracket reads [:class:], [=c=] or [c*n] at i; n is 0 when none of them is there.
func (r *trReader) bracket(set *trSet, i int) (n int, fault string) {
	if !r.is(i, '[') || i+2 >= len(r.c) {
		return 0, ""
	}
	for _, delim := range []byte(":=") {
		if !r.is(i+1, delim) {
			continue
		}
		for end := i + 2; end+1 < len(r.c); end++ {
			if r.is(end, delim) && r.is(end+1, ']') {
				return r.named(set, i, end, delim)
			}
		}
	}
	return r.repeated(set, i)
}

// named reads the class or equivalence class between i+2 and end.
func (r *trReader) named(set *trSet, i, end int, delim byte) (n int, fault string) {
	name := string(r.c[i+2 : end])
	n = end + 2 - i
	if delim == '=' {
		switch {
		case name == "":
			// "[==]" and "[=*" are looked at as repetitions first.
			if k, fault := r.repeated(set, i); k > 0 || fault != "" {
				return k, fault
			}
			return 0, "missing equivalence class character '[==]'"
		case len(name) > 1:
			if k, fault := r.repeated(set, i); k > 0 || fault != "" {
				return k, fault
			}
			return 0, name + ": equivalence class operand must be a single character"
		}
		set.put(name[0])
		set.equal = true
		return n, ""
	}
	if name == "" {
		return 0, "missing character class name '[::]'"
	}
	in := trClass(name)
	if in == nil {
		if k, fault := r.repeated(set, i); k > 0 || fault != "" {
			return k, fault
		}
		return 0, "invalid character class " + quoting.Name(name)
	}
	class := byte(0)
	if name == "upper" || name == "lower" {
		class = name[0]
	} else {
		set.classes = true
	}
	begins := true
	for c := range 256 {
		if in(byte(c)) {
			set.items = append(set.items, trItem{byte(c), class, begins})
			begins = false
		}
	}
	set.ends = true
	return n, ""
}

func trClass(name string) func(c byte) bool {
	upper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	lower := func(c byte) bool { return c >= 'a' && c <= 'z' }
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	alnum := func(c byte) bool { return upper(c) || lower(c) || digit(c) }
	graph := func(c byte) bool { return c > ' ' && c < 127 }
	switch name {
	case "alnum":
		return alnum
	case "alpha":
		return func(c byte) bool { return upper(c) || lower(c) }
	case "blank":
		return func(c byte) bool { return c == ' ' || c == '\t' }
	case "cntrl":
		return func(c byte) bool { return c < ' ' || c == 127 }
	case "digit":
		return digit
	case "graph":
		return graph
	case "lower":
		return lower
	case "print":
		return func(c byte) bool { return c == ' ' || graph(c) }
	case "punct":
		return func(c byte) bool { return graph(c) && !alnum(c) }
	case "space":
		return func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
	case "upper":
		return upper
	case "xdigit":
		return func(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }
	}
	return nil
}

// repeated reads [c*n] at i.
func (r *trReader) repeated(set *trSet, i int) (n int, fault string) {
	if !r.is(i+2, '*') {
		return 0, ""
	}
	for end := i + 3; end < len(r.c); end++ {
		if !r.is(end, ']') {
			continue
		}
		count := string(r.c[i+3 : end])
		base := 10
		if strings.HasPrefix(count, "0") {
			base = 8
		}
		times := uint64(0)
		if count != "" {
			var err error
			if times, err = strconv.ParseUint(count, base, 31); err != nil {
				return 0, "invalid repeat count " + quoting.Name(count) + " in [c*n] construct"
			}
		}
		if times == 0 {
			set.fill, set.fillBy = len(set.items), r.c[i+1]
			set.fills++
		}
		// More than all bytes of the other string make no difference.
		for range min(times, 1<<16) {
			set.put(r.c[i+1])
		}
		set.ends = false
		return end + 1 - i, ""
	}
	return 0, ""
}

// turn makes it the set of all other bytes.
func (s *trSet) turn() {
	var in [256]bool
	for _, it := range s.items {
		in[it.c] = true
	}
	s.turned = s.classes || slices.ContainsFunc(s.items, func(i trItem) bool { return i.class != 0 })
	s.items = nil
	for c := range 256 {
		if !in[c] {
			s.put(byte(c))
		}
	}
}

// isSingle reports whether it has one byte only, however often.
func (s *trSet) isSingle() bool {
	return !slices.ContainsFunc(s.items, func(i trItem) bool { return i.c != s.items[0].c })
}

// repeat writes [c*] as often as the first string needs it.
func (s *trSet) repeat(n int) {
	if s.fill >= 0 {
		var more []trItem
		for range max(n-len(s.items), 0) {
			more = append(more, trItem{c: s.fillBy}) // bounded: the length of the other set, which is charged
		}
		s.items = slices.Insert(s.items, s.fill, more...)
	}
}

// extend makes the second string as long as the first.
func (s *trSet) extend(n int, truncate bool) (fault string) {
	if truncate {
		return ""
	}
	if len(s.items) == 0 {
		return "when not truncating set1, string2 must be non-empty"
	}
	if len(s.items) < n && s.ends {
		return "when translating with string1 longer than string2,\nthe latter string must not end with a character class"
	}
	for len(s.items) < n {
		s.put(s.items[len(s.items)-1].c)
	}
	return ""
}

// mayTranslate reports elements that a second string must not have.
func (s *trSet) mayTranslate(first *trSet, t *tr) (fault string) {
	switch {
	case s.equal:
		return "[=c=] expressions may not appear in string2 when translating"
	case s.classes:
		return "when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'"
	}
	for i, it := range s.items {
		if it.begins && !t.complement && (i >= len(first.items) || !first.items[i].begins || first.items[i].class == 0) {
			return "misaligned [:upper:] and/or [:lower:] construct"
		}
	}
	return ""
}
