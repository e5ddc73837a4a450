package interpreter

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// hooked returns a variable that the machine keeps elsewhere.
func (m *machine) hooked(slot int) value {
	switch slot {
	case slotNF:
		return numberValue(float64(m.cutAll()))
	case slotNR:
		return numberValue(m.nr)
	case slotFNR:
		return numberValue(m.fnr)
	}
	return m.globals[slot]
}

// setGlobal assigns to a variable.
func (m *machine) setGlobal(slot int, v value, pos int) {
	if slot >= hookedSlots {
		m.globals[slot] = v
		return
	}
	switch slot {
	case slotNF:
		m.setCount(int(clampInt(v.number())), pos)
		return
	case slotNR:
		m.nr = v.number()
		return
	case slotFNR:
		m.fnr = v.number()
		return
	case slotFS, slotFPAT, slotFIELDWIDTHS, slotIGNORECASE:
		// The current record is cut as it was read.
		m.cutAll()
	}
	m.globals[slot] = v
	m.changed(slot)
}

// clampInt returns a number as an integer, within 32 bits.
func clampInt(f float64) int64 {
	switch {
	case math.IsNaN(f):
		return 0
	case f > 1<<31-1:
		return 1<<31 - 1
	case f < -1<<31:
		return -1 << 31
	}
	return int64(f)
}

// changed applies the new value of a special variable to the machine.
func (m *machine) changed(slot int) {
	s := m.text(&m.globals[slot], "%.6g")
	switch slot {
	case slotOFS:
		if m.stale { // Join the assigned fields with the old OFS.
			m.join()
		}
		m.ofs = s
	case slotORS:
		m.ors = s
	case slotSUBSEP:
		m.subsep = s
	case slotCONVFMT:
		m.convfmt = s
	case slotOFMT:
		m.ofmt = s
	case slotRS:
		m.separateRecords(s)
	case slotFS:
		m.separateFields()
	case slotFPAT:
		m.fsMode, m.fpat = fsFPAT, m.regexes.of(m, s)
	case slotFIELDWIDTHS:
		m.setWidths(s)
	case slotIGNORECASE:
		m.ignoreCase = m.globals[slot].truth()
		rs, mode := m.globals[slotRS], m.fsMode
		m.separateRecords(m.text(&rs, m.convfmt))
		switch mode {
		case fsFPAT:
			m.fpat = m.regexes.of(m, m.text(&m.globals[slotFPAT], m.convfmt))
		case fsWidths, fsCSV:
		default:
			m.separateFields()
		}
	}
}

func (m *machine) separateRecords(s string) {
	switch {
	case s == "":
		m.rsMode = rsParagraph
	case len(s) == 1 && (!m.ignoreCase || !isNameStart(s[0])):
		m.rsMode, m.rsByte = rsByte, s[0]
	default:
		m.rsMode = rsPattern
		if utf8.RuneCountInString(s) == 1 {
			s = quotePattern(s)
		}
		m.rsRegex = m.regexes.of(m, s)
	}
	if !m.o.CSV && m.fsMode < fsWidths {
		m.separateFields()
	}
}

// separateFields takes over FS.
func (m *machine) separateFields() {
	if m.o.CSV {
		return
	}
	fs := m.globals[slotFS]
	s := m.text(&fs, m.convfmt)
	m.fsText = s
	m.fsMode, m.fsRegex = m.separator(s)
	switch {
	case m.fsMode == fsByte:
		m.fsByte = s[0]
	case m.rsMode == rsParagraph && m.fsMode != fsBlanks && m.fsMode != fsEach:
		// Newlines separate too.
		if m.fsMode == fsText {
			s = quotePattern(s)
		}
		m.fsMode, m.fsRegex = fsPattern, m.regexes.of(m, "("+s+")|\n")
	}
}

// separator returns how a text separates fields.
func (m *machine) separator(s string) (mode int, rx *matcher) {
	switch {
	case s == " ":
		return fsBlanks, nil
	case s == "":
		return fsEach, nil
	case m.ignoreCase && len(s) == 1 && isNameStart(s[0]):
		return fsPattern, m.regexes.of(m, s)
	case len(s) == 1:
		return fsByte, nil
	case utf8.RuneCountInString(s) == 1:
		return fsText, nil
	}
	return fsPattern, m.regexes.of(m, s)
}

// widthMemory is about how many bytes a word of FIELDWIDTHS takes: its text, and a list that grows.
const widthMemory = 64

func (m *machine) setWidths(s string) {
	m.fsMode, m.widths = fsWidths, nil
	if len(s) > 64 {
		m.grow(widthMemory * (len(s)/2 + 1))
	}
	for i, word := range strings.Fields(s) {
		var w fieldWidth
		skip, width, both := strings.Cut(word, ":")
		if both {
			n, err := strconv.Atoi(skip)
			if err != nil || n < 0 {
				m.fatalAt(0, "fatal: invalid FIELDWIDTHS value, for field %d, near `%s'", i+1, word)
			}
			w.skip = n
		} else {
			width = skip
		}
		if width == "*" {
			w.rest = true
		} else {
			n, err := strconv.Atoi(width)
			if err != nil || n < 0 || !both && n == 0 {
				m.fatalAt(0, "fatal: invalid FIELDWIDTHS value, for field %d, near `%s'", i+1, word)
			}
			w.width = n
		}
		m.widths = append(m.widths, w)
	}
}

// offset returns how many bytes n characters of s are.
func (m *machine) offset(s string, n int) int {
	if m.o.Bytes {
		return min(n, len(s))
	}
	i := 0
	for ; n > 0 && i < len(s); n-- {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return i
}

// length returns how many characters s has.
func (m *machine) length(s string) int {
	if m.o.Bytes {
		return len(s)
	}
	return utf8.RuneCountInString(s)
}

// assign makes the assignment of an operand or a -v of the form var=value.
func (m *machine) assign(arg string, option bool) bool {
	name, text, ok := strings.Cut(arg, "=")
	if !ok || !IsName(name) {
		return false
	}
	if _, isFunc := m.prog.funcs[name]; isFunc {
		panic(&fatal{"fatal: cannot use function `" + name + "' as variable name"})
	}
	sym := m.prog.globals[name]
	if sym == nil || sym.slot < 0 || sym.isArr {
		if sym != nil && sym.isArr {
			panic(&fatal{"fatal: cannot use array `" + name + "' as variable name"})
		}
		return true // The program does not look at it.
	}
	warn := func(c byte) {
		if option {
			m.p.Warn("warning: escape sequence `\\%c' treated as plain `%c'", c, c)
		}
	}
	m.setGlobal(sym.slot, inputValue(unescape(text, warn)), 0)
	return true
}

// IsName reports whether s can be the name of a variable.
func IsName(s string) bool {
	if s == "" || !isNameStart(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isNameStart(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// fillArrays sets ENVIRON, ARGV and PROCINFO.
func (m *machine) fillArrays() {
	env := m.garrays[arrayENVIRON]
	for _, e := range m.p.Environ() {
		name, v, _ := strings.Cut(e, "=")
		m.set(env, name, inputValue(v))
	}
	argv := m.garrays[arrayARGV]
	m.set(argv, "0", textValue(m.p.Name()))
	for i, a := range m.o.Args {
		m.set(argv, strconv.Itoa(i+1), inputValue(a))
	}
	m.globals[slotARGC] = numberValue(float64(len(m.o.Args) + 1))
	info := m.garrays[arrayPROCINFO]
	cred := m.p.Cred()
	for name, n := range map[string]int{
		"pid": m.p.PID(), "ppid": 1, "pgrpid": m.p.PID(), "uid": int(cred.UID), "euid": int(cred.UID), "gid": int(cred.GID), "egid": int(cred.GID),
	} {
		m.set(info, name, numberValue(float64(n)))
	}
	m.set(info, "version", textValue("5.2.1"))
	m.set(info, "FS", textValue("FS"))
	m.set(info, "strftime", textValue("%a %b %e %H:%M:%S %Z %Y"))
	m.set(info, "platform", textValue("posix"))
}
