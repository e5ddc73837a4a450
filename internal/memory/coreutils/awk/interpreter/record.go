package interpreter

import (
	"strings"
	"unicode/utf8"
)

// How records are separated.
const (
	rsByte = iota
	rsParagraph
	rsPattern
)

// How fields are separated.
const (
	fsBlanks = iota
	fsByte
	fsText
	fsPattern
	fsEach   // every character is one
	fsWidths // FIELDWIDTHS
	fsFPAT
	fsCSV
)

// record is the current record with its fields, and how the next ones are cut.
type record struct {
	rec    string
	fields []value
	known  int  // how many fields are cut
	cut    bool // all of them
	scan   int  // where cutting goes on
	stale  bool // rec is to be joined from the fields

	nr, fnr float64

	rsMode  int
	rsByte  byte
	rsRegex *matcher

	fsMode  int
	fsByte  byte
	fsText  string
	fsRegex *matcher
	widths  []fieldWidth
	fpat    *matcher

	main    *reader // the file that is read
	argAt   int
	started bool // a file operand was found, or there is none
	over    bool
}

// fieldWidth is an element of FIELDWIDTHS.
type fieldWidth struct {
	skip, width int
	rest        bool
}

func (m *machine) startRecord() {
	m.rsMode, m.rsByte = rsByte, '\n'
	m.fsMode = fsBlanks
	if m.o.CSV {
		m.fsMode = fsCSV
	}
	m.cut, m.argAt = true, 1
}

// setRecord makes s the record.
func (m *machine) setRecord(s string) {
	m.rec, m.known, m.scan, m.cut, m.stale = s, 0, 0, false, false
}

// recordText returns $0.
func (m *machine) recordText() string {
	if m.stale {
		m.join()
	}
	return m.rec
}

// join makes $0 from the fields.
func (m *machine) join() {
	m.stale = false
	size := 0
	for i := range m.known {
		size += len(m.fields[i].s) + len(m.ofs)
	}
	m.taken(size)
	b := make([]byte, 0, size+8)
	for i := range m.known {
		if i > 0 {
			b = append(b, m.ofs...)
		}
		if f := &m.fields[i]; f.k == number {
			b = m.appendNumber(b, f.n, m.convfmt)
		} else {
			b = append(b, f.s...)
		}
	}
	m.rec = string(b)
}

// field returns $i.
func (m *machine) field(i int) value {
	if i == 0 {
		return inputValue(m.recordText())
	}
	if i > m.known && !m.more(i) {
		return value{}
	}
	return m.fields[i-1]
}

// fieldText is the text of $i.
func (m *machine) fieldText(i int) string {
	if i == 0 {
		return m.recordText()
	}
	if i > m.known && !m.more(i) {
		return ""
	}
	return m.text(&m.fields[i-1], m.convfmt)
}

// fieldNumber is the number of $i.
func (m *machine) fieldNumber(i int) float64 {
	if i == 0 {
		return toNumber(m.recordText())
	}
	if i > m.known && !m.more(i) {
		return 0
	}
	return m.fields[i-1].number()
}

// more cuts fields up to the i-th; false when there are fewer.
func (m *machine) more(i int) bool {
	if m.cut {
		return false
	}
	switch m.fsMode {
	case fsBlanks:
		m.cutBlanks(i)
	case fsByte:
		m.cutBytes(i)
	default:
		m.cut = true
		m.fields = m.fields[:0]
		m.spend(1 + len(m.rec)>>6)
		m.split(m.rec, m.fsMode, m.fsText, m.fsRegex, func(s, _ string) {
			m.roomForField()
			m.fields = append(m.fields, inputValue(s))
		})
		m.known = len(m.fields)
	}
	return i <= m.known
}

func (m *machine) addField(s string) {
	if m.known < len(m.fields) {
		m.fields[m.known] = value{s: s, k: input}
	} else {
		m.roomForField()
		m.fields = append(m.fields, value{s: s, k: input})
	}
	m.known++
}

// fieldCost is the size of a field without its text, in bytes.
const fieldCost = 32

// roomForField makes room for one more field. The fields of a long record have many times its size.
func (m *machine) roomForField() {
	n := len(m.fields)
	if n < cap(m.fields) {
		return
	}
	size := max(2*n, 16)
	m.grow(size * fieldCost)
	m.spend(size >> 3)
	m.fields = append(make([]value, 0, size), m.fields...)
}

// cutBlanks cuts fields between blanks up to the n-th.
func (m *machine) cutBlanks(n int) {
	s, i := m.rec, m.scan
	for m.known < n {
		for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n') {
			i++
		}
		if i == len(s) {
			m.cut = true
			break
		}
		begin := i
		for i < len(s) && s[i] != ' ' && s[i] != '\t' && s[i] != '\n' {
			i++
		}
		m.addField(s[begin:i])
	}
	m.scan = i
}

// cutBytes cuts fields between single bytes up to the n-th. scan is one behind the end when
// all is cut.
func (m *machine) cutBytes(n int) {
	s := m.rec
	if s == "" {
		m.cut = true
		return
	}
	for m.known < n {
		rest := s[m.scan:]
		i := strings.IndexByte(rest, m.fsByte)
		if m.rsMode == rsParagraph {
			if k := strings.IndexByte(rest, '\n'); k >= 0 && (i < 0 || k < i) {
				i = k
			}
		}
		if i < 0 {
			m.addField(rest)
			m.cut = true
			return
		}
		m.addField(rest[:i])
		m.scan += i + 1
	}
}

// cutAll cuts all fields and returns how many there are.
func (m *machine) cutAll() int {
	for !m.cut {
		m.more(1 << 30)
	}
	return m.known
}

// maxField bounds the number of a field.
const maxField = 10_000_000

// setField assigns to $i.
func (m *machine) setField(i int, v value, pos int) {
	if i == 0 {
		m.setRecord(m.text(&v, m.convfmt))
		return
	}
	n := m.cutAll()
	if i > n {
		m.setCount(i, pos)
	}
	if v.k == unset {
		v = textValue("")
	}
	m.fields[i-1] = v
	m.stale = true
}

// setCount assigns to NF.
func (m *machine) setCount(n, pos int) {
	if n < 0 {
		m.fatalAt(pos, "fatal: NF set to negative value")
	}
	if n > maxField {
		m.fatalAt(pos, "fatal: cannot allocate memory for %d fields", n)
	}
	m.cutAll()
	if n > m.known {
		m.spend((n - m.known) >> 3)
	}
	for m.known < n {
		m.addField("")
	}
	m.known = n
	m.stale = true
}

// split cuts a text into fields and gives each to add, with the separator behind it.
func (m *machine) split(s string, mode int, sep string, rx *matcher, add func(field, sep string)) {
	if s == "" {
		return
	}
	switch mode {
	case fsBlanks:
		splitBlanks(s, add)
	case fsText, fsByte:
		m.splitText(s, sep, add)
	case fsEach:
		for s != "" {
			n := 1
			if !m.o.Bytes {
				_, n = utf8.DecodeRuneInString(s)
			}
			add(s[:n], "")
			s = s[n:]
		}
	case fsWidths:
		m.splitWidths(s, add)
	case fsFPAT:
		m.splitFPAT(s, m.fpat, add, nil)
	case fsCSV:
		splitCSV(s, add)
	default:
		m.splitPattern(s, rx, add)
	}
}

func splitBlanks(s string, add func(field, sep string)) {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n') {
		i++
	}
	for i < len(s) {
		begin := i
		for i < len(s) && s[i] != ' ' && s[i] != '\t' && s[i] != '\n' {
			i++
		}
		end := i
		for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n') {
			i++
		}
		add(s[begin:end], s[end:i])
	}
}

func (m *machine) splitText(s, sep string, add func(field, sep string)) {
	for {
		i := strings.Index(s, sep)
		if i < 0 {
			add(s, "")
			return
		}
		add(s[:i], s[i:i+len(sep)])
		s = s[i+len(sep):]
	}
}

// splitPattern cuts where the expression matches something that is not empty.
func (m *machine) splitPattern(s string, rx *matcher, add func(field, sep string)) {
	var caps [2]int
	begin, from := 0, 0
	for from <= len(s) && m.find(rx, s, from, caps[:]) {
		if caps[0] == caps[1] {
			from = caps[1] + 1
			continue
		}
		add(s[begin:caps[0]], s[caps[0]:caps[1]])
		begin, from = caps[1], caps[1]
	}
	add(s[begin:], "")
}

// splitFPAT cuts out the matches of the expression; between is called with the text around.
func (m *machine) splitFPAT(s string, rx *matcher, add func(field, sep string), between func(sep string)) {
	var caps [2]int
	begin, from, filled := 0, 0, false
	for from <= len(s) && m.find(rx, s, from, caps[:]) {
		if caps[0] == caps[1] && filled && caps[0] == begin {
			// An empty match right behind a field does not count.
			from = caps[1] + 1
			continue
		}
		if between != nil {
			between(s[begin:caps[0]])
		}
		add(s[caps[0]:caps[1]], "")
		begin, filled = caps[1], true
		if from = caps[1]; caps[0] == caps[1] {
			from++
		}
	}
	if between != nil {
		between(s[begin:])
	}
}

func (m *machine) splitWidths(s string, add func(field, sep string)) {
	for _, w := range m.widths {
		if s == "" {
			return
		}
		s = s[m.offset(s, w.skip):]
		n := len(s)
		if !w.rest {
			n = m.offset(s, w.width)
		}
		if s == "" {
			return
		}
		add(s[:n], "")
		s = s[n:]
	}
}

// splitCSV cuts fields between commas; quotes protect, and stand for one when doubled.
func splitCSV(s string, add func(field, sep string)) {
	for {
		var field string
		if strings.HasPrefix(s, `"`) {
			var b strings.Builder
			s = s[1:]
			for {
				i := strings.IndexByte(s, '"')
				if i < 0 {
					b.WriteString(s)
					s = ""
					break
				}
				b.WriteString(s[:i])
				if s = s[i+1:]; !strings.HasPrefix(s, `"`) {
					break
				}
				b.WriteByte('"')
				s = s[1:]
			}
			field = b.String()
		}
		i := strings.IndexByte(s, ',')
		if i < 0 {
			add(field+s, "")
			return
		}
		add(field+s[:i], ",")
		s = s[i+1:]
	}
}
