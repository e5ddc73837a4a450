package interpreter

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// numBuiltin compiles a function of the language that gives a number.
func (c *compiler) numBuiltin(x *builtinNode) numCode {
	switch x.name {
	case "length":
		return c.length(x)
	case "index":
		return c.index(x)
	case "match":
		return c.matchFunction(x)
	case "sub", "gsub":
		return c.substitute(x)
	case "split":
		return c.splitFunction(x)
	case "patsplit":
		return c.patsplit(x)
	case "asort", "asorti":
		return c.sortFunction(x)
	case "system", "close", "fflush":
		return c.streamFunction(x)
	case "systime":
		return func(m *machine) float64 { return float64(m.p.Now().Unix()) }
	case "mktime":
		return c.mktime(x)
	case "rand":
		return func(m *machine) float64 {
			if m.rng == nil {
				m.seedRandom(0)
			}
			return m.rng.Float64()
		}
	case "srand":
		return c.srand(x)
	case "isarray":
		return c.isarray(x)
	case "strtonum":
		f := c.value(x.args[0])
		return func(m *machine) float64 {
			v := f(m)
			return strtonum(&v)
		}
	case "and", "or", "xor", "compl", "lshift", "rshift":
		return c.bits(x)
	}
	return c.mathFunction(x)
}

func (c *compiler) mathFunction(x *builtinNode) numCode {
	f, pos := c.num(x.args[0]), x.pos
	warned := func(m *machine, v float64) {
		m.warnAt(pos, "%s: received negative argument %s", x.name, m.numberText(v, "%.6g"))
	}
	switch x.name {
	case "int":
		return func(m *machine) float64 { return math.Trunc(f(m)) }
	case "sin":
		return func(m *machine) float64 { return math.Sin(f(m)) }
	case "cos":
		return func(m *machine) float64 { return math.Cos(f(m)) }
	case "exp":
		return func(m *machine) float64 {
			v := f(m)
			r := math.Exp(v)
			if math.IsInf(r, 1) && !math.IsInf(v, 1) {
				m.warnAt(pos, "exp: argument %s is out of range", m.numberText(v, "%.6g"))
			}
			return r
		}
	case "sqrt", "log":
		return func(m *machine) float64 {
			v := f(m)
			if v < 0 {
				warned(m, v)
				return math.Copysign(math.NaN(), -1)
			}
			if x.name == "sqrt" {
				return math.Sqrt(v)
			}
			return math.Log(v)
		}
	}
	g := c.num(x.args[1]) // atan2
	return func(m *machine) float64 {
		y := f(m)
		return math.Atan2(y, g(m))
	}
}

func (c *compiler) length(x *builtinNode) numCode {
	if len(x.args) == 0 {
		return func(m *machine) float64 { return float64(m.length(m.recordText())) }
	}
	switch a := ungroup(x.args[0]).(type) {
	case *nameNode:
		if a.sym.isArr {
			arr := c.array(a)
			return func(m *machine) float64 { return float64(arr(m).live) }
		}
	case *indexNode:
		// An element may be an array itself.
		outer, key := c.array(a.array), c.keys(a.subs)
		return func(m *machine) float64 {
			arr := outer(m)
			e := m.at(arr, key(m))
			if e.sub != nil {
				return float64(e.sub.live)
			}
			return float64(m.length(m.text(&e.value, m.convfmt)))
		}
	}
	f := c.text(x.args[0])
	return func(m *machine) float64 { return float64(m.length(f(m))) }
}

func (c *compiler) index(x *builtinNode) numCode {
	s, t := c.text(x.args[0]), c.text(x.args[1])
	return func(m *machine) float64 {
		text := s(m)
		what := t(m)
		m.scanned(text)
		if m.ignoreCase {
			text, what = m.changeCase(text, false), m.changeCase(what, false)
		}
		n := strings.Index(text, what)
		if n < 0 {
			return 0
		}
		return float64(m.length(text[:n]) + 1)
	}
}

// scanned counts the work on a long text.
func (m *machine) scanned(s string) {
	if len(s) > 1024 {
		m.spend(len(s) >> 6)
	}
}

// substr compiles substr. As gawk does, it cuts fractions off, and begins at 1 at least, whatever
// that does to the length.
func (c *compiler) substr(x *builtinNode) textCode {
	s, from := c.text(x.args[0]), c.num(x.args[1])
	count := func(*machine) float64 { return math.Inf(1) }
	if len(x.args) == 3 {
		count = c.num(x.args[2])
	}
	return func(m *machine) string {
		text := s(m)
		begin := from(m)
		n := count(m)
		if !(begin >= 1) { // NaN as well.
			begin = 1
		}
		if !(n >= 1) || begin >= float64(len(text)+1) {
			return ""
		}
		m.scanned(text)
		i := m.offset(text, int(begin)-1)
		text = text[i:]
		if n >= float64(len(text)) {
			return text
		}
		return text[:m.offset(text, int(n))]
	}
}

// textBuiltin compiles a function that gives a text; nil for the others.
func (c *compiler) textBuiltin(x *builtinNode) textCode {
	switch x.name {
	case "substr":
		return c.substr(x)
	case "sprintf":
		return c.formatted(x.args, x.pos)
	case "tolower", "toupper":
		f, upper := c.text(x.args[0]), x.name == "toupper"
		return func(m *machine) string {
			s := f(m)
			m.taken(len(s))
			return m.changeCase(s, upper)
		}
	case "gensub":
		return c.gensub(x)
	case "strftime":
		return c.strftime(x)
	case "typeof":
		return c.typeOfFunction(x)
	}
	return nil
}

func (m *machine) changeCase(s string, upper bool) string {
	if !m.o.Bytes {
		if upper {
			return mapRunes(s, unicode.ToUpper)
		}
		return mapRunes(s, unicode.ToLower)
	}
	b := []byte(s)
	for i, ch := range b {
		switch {
		case upper && ch >= 'a' && ch <= 'z':
			b[i] = ch - 32
		case !upper && ch >= 'A' && ch <= 'Z':
			b[i] = ch + 32
		}
	}
	return string(b)
}

// mapRunes is strings.Map, but preserves bytes that are not characters.
func mapRunes(s string, f func(r rune) rune) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b = append(b, s[i])
		} else {
			b = utf8.AppendRune(b, f(r))
		}
		i += n
	}
	return string(b)
}

func (c *compiler) isarray(x *builtinNode) numCode {
	switch a := ungroup(x.args[0]).(type) {
	case *nameNode:
		is := float64(b2i(a.sym.isArr))
		return func(*machine) float64 { return is }
	case *indexNode:
		outer, key := c.array(a.array), c.keys(a.subs)
		return func(m *machine) float64 {
			arr := outer(m)
			e := findKey(arr, key(m))
			return float64(b2i(e != nil && e.sub != nil))
		}
	}
	f := c.value(x.args[0])
	return func(m *machine) float64 { f(m); return 0 }
}

func (c *compiler) typeOfFunction(x *builtinNode) textCode {
	describe := func(v *value) string {
		switch v.k {
		case number:
			return "number"
		case text:
			return "string"
		case input:
			if _, ok := parseNumeric(v.s); ok {
				return "strnum"
			}
			return "string"
		case unset:
		}
		return "untyped"
	}
	switch a := ungroup(x.args[0]).(type) {
	case *nameNode:
		if a.sym.isArr {
			return func(*machine) string { return "array" }
		}
	case *indexNode:
		outer, key := c.array(a.array), c.keys(a.subs)
		return func(m *machine) string {
			arr := outer(m)
			e := findKey(arr, key(m))
			switch {
			case e == nil:
				return "untyped"
			case e.sub != nil:
				return "array"
			case e.k == unset:
				return "unassigned"
			}
			return describe(&e.value)
		}
	case *regexNode:
		return func(*machine) string { return "number" }
	case *fieldNode:
		f := c.field(a)
		return func(m *machine) string {
			v := f(m)
			if v.k == unset {
				return "unassigned"
			}
			return describe(&v)
		}
	}
	f := c.value(x.args[0])
	return func(m *machine) string {
		v := f(m)
		return describe(&v)
	}
}

// strtonum also reads octal and hexadecimal numbers.
func strtonum(v *value) float64 {
	if v.k == number {
		return v.n
	}
	s := strings.TrimLeft(v.s, " \t\n")
	neg := strings.HasPrefix(s, "-")
	if f, n := radixNumber(strings.TrimLeft(s, "+-")); n > 0 {
		if neg {
			return -f
		}
		return f
	}
	return toNumber(s)
}

func (c *compiler) bits(x *builtinNode) numCode {
	args := make([]numCode, len(x.args))
	for i, a := range x.args {
		args[i] = c.num(a)
	}
	name, pos := x.name, x.pos
	return func(m *machine) float64 {
		var r uint64
		for i, a := range args {
			f := a(m)
			if f < 0 {
				m.fatalAt(pos, "fatal: %s: argument %d negative value %s is not allowed", name, i+1, m.numberText(f, "%.6g"))
			}
			n := uint64(math.Min(f, 1<<63))
			switch {
			case i == 0:
				r = n
				if name == "compl" {
					r = ^n & (1<<53 - 1)
				}
			case name == "and":
				r &= n
			case name == "or":
				r |= n
			case name == "xor":
				r ^= n
			case name == "lshift":
				r = r << min(n, 64) & (1<<53 - 1)
			case name == "rshift":
				r >>= min(n, 64)
			}
		}
		return float64(r)
	}
}

func (c *compiler) srand(x *builtinNode) numCode {
	var f numCode
	if len(x.args) > 0 {
		f = c.num(x.args[0])
	}
	return func(m *machine) float64 {
		seed := float64(m.p.Now().Unix())
		if f != nil {
			seed = f(m)
		}
		m.seedRandom(seed)
		return m.prev
	}
}

func (c *compiler) streamFunction(x *builtinNode) numCode {
	var name, how textCode = nil, func(*machine) string { return "" }
	if len(x.args) > 0 {
		name = c.text(x.args[0])
	}
	if len(x.args) > 1 {
		how = c.text(x.args[1])
	}
	switch x.name {
	case "system":
		return func(m *machine) float64 { return float64(m.system(name(m))) }
	case "close":
		return func(m *machine) float64 {
			s := name(m)
			return float64(m.closeStream(s, how(m)))
		}
	}
	return func(m *machine) float64 {
		if name == nil {
			m.flushAll()
			return 0
		}
		s := name(m)
		if s == "" {
			m.flushAll()
			return 0
		}
		if w := m.outputs[s]; w != nil {
			m.flush(w)
			return 0
		}
		if s == "/dev/stdout" {
			m.flushOut()
			return 0
		}
		return -1
	}
}

func (c *compiler) strftime(x *builtinNode) textCode {
	args := make([]valueCode, len(x.args))
	for i, a := range x.args {
		args[i] = c.value(a)
	}
	return func(m *machine) string {
		format, at, zone := "%a %b %e %H:%M:%S %Z %Y", m.p.Now(), m.o.Zone
		if len(args) > 0 {
			v := args[0](m)
			format = m.text(&v, m.convfmt)
		}
		if len(args) > 1 {
			v := args[1](m)
			at = time.Unix(int64(math.Max(math.Min(v.number(), 1<<55), -1<<55)), 0)
		}
		if len(args) > 2 {
			if v := args[2](m); v.truth() {
				zone = time.UTC
			}
		}
		if zone != time.UTC || m.o.Zone == time.UTC {
			return m.strftime(format, at.In(zone))
		}
		// With the third argument gawk names the zone so.
		return m.strftime(format, at.In(time.FixedZone("GMT", 0)))
	}
}

// strftime formats a time; a text that is too long ends the program.
func (m *machine) strftime(format string, t time.Time) string {
	s, _ := m.o.Strftime(format, t, func(n int) bool {
		m.grow(2 * n)
		m.spend(n >> 6)
		return true
	})
	return s
}

// mktime reads "YYYY MM DD HH MM SS [DST]".
func (c *compiler) mktime(x *builtinNode) numCode {
	f := c.text(x.args[0])
	utc := func(*machine) bool { return false }
	if len(x.args) > 1 {
		utc = c.cond(x.args[1])
	}
	return func(m *machine) float64 {
		text := f(m)
		m.taken(8 * len(text)) // A word has two bytes at least.
		words := strings.Fields(text)
		zone := m.o.Zone
		if utc(m) {
			zone = time.UTC
		}
		var n [6]int
		if len(words) < 6 {
			return -1
		}
		for i := range n {
			v, err := strconv.ParseInt(words[i], 10, 32)
			if err != nil {
				return -1
			}
			n[i] = int(v)
		}
		return float64(time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, zone).Unix())
	}
}
