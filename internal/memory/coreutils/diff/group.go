package diff

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/cformat"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
)

// The groups of the style that merges files.
const (
	groupUnchanged = iota
	groupOld
	groupNew
	groupChanged
)

// setFormat takes one of the --...-format options.
func (d *diffJob) setFormat(o *program.Options) {
	d.setStyle(o, diffGroups)
	v := o.Value
	set := func(at **string) {
		if *at != nil && **at != v {
			o.RejectQuietly("conflicting --%s option value '%s'", o.Long, v)
			return
		}
		*at = &v
	}
	switch o.ID {
	case diffLineFormat:
		for i := range d.lineFormat {
			set(&d.lineFormat[i])
		}
	case diffOldLine:
		set(&d.lineFormat[groupOld])
	case diffNewLine:
		set(&d.lineFormat[groupNew])
	case diffUnchangedLine:
		set(&d.lineFormat[groupUnchanged])
	case diffOldGroup:
		set(&d.groupFormat[groupOld])
	case diffNewGroup:
		set(&d.groupFormat[groupNew])
	case diffUnchangedGroup:
		set(&d.groupFormat[groupUnchanged])
	case diffChangedGroup:
		set(&d.groupFormat[groupChanged])
	}
}

// ifdef is -D.
func (d *diffJob) ifdef(name string) {
	for group, format := range map[int]string{
		groupUnchanged: "%=",
		groupOld:       "#ifndef @\n%<#endif /* ! @ */\n",
		groupNew:       "#ifdef @\n%>#endif /* @ */\n",
		groupChanged:   "#ifndef @\n%<#else /* @ */\n%>#endif /* @ */\n",
	} {
		// A % in the name is literal.
		s := strings.ReplaceAll(format, "@", strings.ReplaceAll(name, "%", "%%"))
		d.groupFormat[group] = &s
	}
}

func (d *diffJob) defaultFormats() {
	def := func(at **string, s string) {
		if *at == nil {
			*at = &s
		}
	}
	for i := range d.lineFormat {
		def(&d.lineFormat[i], "%l\n")
	}
	old, fresh := "%<", "%>"
	if c := d.groupFormat[groupChanged]; c != nil {
		old, fresh = *c, *c
	}
	def(&d.groupFormat[groupOld], old)
	def(&d.groupFormat[groupNew], fresh)
	def(&d.groupFormat[groupUnchanged], "%=")
	def(&d.groupFormat[groupChanged], *d.groupFormat[groupOld]+*d.groupFormat[groupNew])
}

// diffGroup is a run of lines of both files.
type diffGroup struct{ from, to [2]int }

func (p *diffPair) writeGroups() {
	next := [2]int{}
	for _, c := range p.changes {
		if c.ignore {
			continue
		}
		p.group(groupUnchanged, diffGroup{next, [2]int{c.A, c.B}})
		kind := groupChanged
		if c.Ins == 0 {
			kind = groupOld
		} else if c.Del == 0 {
			kind = groupNew
		}
		g := diffGroup{[2]int{c.A, c.B}, [2]int{c.A + c.Del, c.B + c.Ins}}
		p.group(kind, g)
		next = g.to
	}
	p.group(groupUnchanged, diffGroup{next, [2]int{len(p.f[0].lines), len(p.f[1].lines)}})
}

func (p *diffPair) group(kind int, g diffGroup) {
	if g.from != g.to {
		p.groupText(*p.groupFormat[kind], 0, g, true)
	}
}

// groupText writes a format up to end, and returns the rest.
func (p *diffPair) groupText(f string, end byte, g diffGroup, show bool) string {
	for f != "" && f[0] != end {
		c := f[0]
		f = f[1:]
		if c != '%' || f == "" {
			p.put(show, string([]byte{c}))
			continue
		}
		switch f[0] {
		case '%':
			p.put(show, "%")
			f = f[1:]
		case '(':
			f = p.condition(f[1:], end, g, show)
		case '<', '>', '=':
			if show {
				k, kind := 0, groupOld
				switch f[0] {
				case '>':
					k, kind = 1, groupNew
				case '=':
					kind = groupUnchanged
				}
				p.groupLines(k, *p.lineFormat[kind], g)
			}
			f = f[1:]
		default:
			var s string
			s, f = p.spec("%"+f, func(letter byte) (int, bool) { return g.value(letter) })
			p.put(show, s)
		}
	}
	return f
}

func (p *diffPair) put(show bool, s string) {
	if show {
		_, _ = p.out.WriteString(s)
	}
}

// maxConditions bounds conditions inside each other; text behind is left out.
const maxConditions = 1000

// condition is %(A=B?T:E).
func (p *diffPair) condition(f string, end byte, g diffGroup, show bool) string {
	if p.depth++; p.depth > maxConditions {
		return ""
	}
	defer func() { p.depth-- }()
	var value [2]int
	for i := range value {
		n := 0
		for n < len(f) && ascii.IsDigit(f[n]) {
			n++
		}
		if n > 0 {
			value[i], _ = strconv.Atoi(f[:n])
			f = f[n:]
		} else if f != "" {
			value[i], _ = g.value(f[0])
			f = f[1:]
		}
		if f == "" || f[0] != "=?"[i] {
			return f
		}
		f = f[1:]
	}
	_ = end
	equal := value[0] == value[1]
	f = p.groupText(f, ':', g, show && equal)
	if f == "" {
		return f
	}
	f = p.groupText(f[1:], ')', g, show && !equal)
	if f == "" {
		return f
	}
	return f[1:]
}

// value returns the value of a letter of a group.
func (g diffGroup) value(letter byte) (int, bool) {
	k := 1
	if letter >= 'a' && letter <= 'z' {
		k = 0
		letter -= 'a' - 'A'
	}
	switch letter {
	case 'E':
		return g.from[k], true
	case 'F':
		return g.from[k] + 1, true
	case 'L':
		return g.to[k], true
	case 'M':
		return g.to[k] + 1, true
	case 'N':
		return g.to[k] - g.from[k], true
	}
	return 0, false
}

// spec writes %[-][WIDTH][.[PREC]]{doxX}LETTER or %c'C'; text that it cannot read is copied.
func (p *diffPair) spec(f string, value func(letter byte) (int, bool)) (text, rest string) {
	if strings.HasPrefix(f, "%c'") {
		if len(f) > 4 && f[3] != '\\' && f[4] == '\'' {
			return f[3:4], f[5:]
		}
		if end := strings.IndexByte(f[3:], '\''); end > 1 && f[3] == '\\' {
			if n, err := strconv.ParseUint(f[4:3+end], 8, 8); err == nil {
				return string([]byte{byte(n)}), f[3+end+1:]
			}
		}
		return "%", f[1:]
	}
	i := 1
	for i < len(f) && (f[i] == '-' || f[i] == '\'' || f[i] == '0') {
		i++
	}
	flags := f[1:i]
	width, rest := cformat.LeadingNumber(f[i:])
	prec := -1
	if strings.HasPrefix(rest, ".") {
		prec, rest = cformat.LeadingNumber(rest[1:])
	}
	if len(rest) < 2 || strings.IndexByte("doxX", rest[0]) < 0 || width > 1<<16 {
		return "%", f[1:]
	}
	n, ok := value(rest[1])
	if !ok {
		return "%", f[1:]
	}
	field := cformat.Field{Flags: flags, Width: max(width, 0), Prec: prec}
	s := strconv.FormatInt(int64(n), map[byte]int{'d': 10, 'o': 8, 'x': 16, 'X': 16}[rest[0]])
	if rest[0] == 'X' {
		s = strings.ToUpper(s)
	}
	return field.Pad(s, true), rest[2:]
}

func (p *diffPair) groupLines(k int, format string, g diffGroup) {
	f := p.f[k]
	for i := g.from[k]; i < g.to[k]; i++ {
		whole := f.lines[i] + "\n"
		if f.incomplete && i == len(f.lines)-1 {
			whole = f.lines[i]
		}
		p.lineText(format, f.lines[i], whole, i+1)
		if p.out.HasFailed() {
			return
		}
	}
}

// lineText writes one line as a line format says.
func (p *diffPair) lineText(f, line, whole string, number int) {
	for f != "" {
		i := strings.IndexByte(f, '%')
		if i < 0 || i+1 == len(f) {
			_, _ = p.out.WriteString(f)
			return
		}
		_, _ = p.out.WriteString(f[:i])
		f = f[i:]
		switch f[1] {
		case '%':
			_ = p.out.WriteByte('%')
			f = f[2:]
		case 'l':
			p.writeExpanded(line, "")
			f = f[2:]
		case 'L':
			_, _ = p.out.WriteString(whole)
			f = f[2:]
		default:
			var s string
			s, f = p.spec(f, func(letter byte) (int, bool) { return number, letter == 'n' })
			_, _ = p.out.WriteString(s)
		}
	}
}
