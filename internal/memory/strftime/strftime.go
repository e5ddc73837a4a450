// Package strftime formats times as strftime(3) does in the C locale, with the extensions of GNU date.
package strftime

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Format writes t as GNU date does: the conversions of strftime(3) in the C locale, with GNU's flags (_ - 0 + ^ #),
// widths, colons before z, %N and %q. A sequence that is not a conversion stays as it is.
func Format(format string, t time.Time) string { return formatted(format, t, false) }

// FormatC writes t as strftime(3) of the GNU C library does in the C locale. It differs from Format in this: years
// are not padded, and +, colons, %N and %q are not known.
func FormatC(format string, t time.Time) string { return formatted(format, t, true) }

func formatted(format string, t time.Time, libc bool) string {
	s, _ := write(format, t, libc, nil)
	return s
}

// A Budget counts n more bytes of a text before it grows by them; the work is proportional. False: give up.
type Budget func(n int) bool

// FormatWithin is [Format] for a format of any length; !ok: the budget was too small.
func FormatWithin(format string, t time.Time, budget Budget) (s string, ok bool) {
	return write(format, t, false, budget)
}

// FormatCWithin is [FormatC] for a format of any length; !ok: the budget was too small.
func FormatCWithin(format string, t time.Time, budget Budget) (s string, ok bool) {
	return write(format, t, true, budget)
}

const (
	freeText       = 1 << 12 // bytes that are not counted
	conversionCost = 64      // of a conversion beside its text, in bytes
)

func write(format string, t time.Time, libc bool, budget Budget) (string, bool) {
	var b strings.Builder
	due := 0
	for i := 0; i < len(format); {
		if budget != nil && due > freeText {
			if !budget(due) {
				return b.String(), false
			}
			due = 0
		}
		if format[i] != '%' {
			b.WriteByte(format[i])
			due++
			i++
			continue
		}
		c, n := parseConversion(format[i:], libc)
		text, ok := c.expand(t)
		if !ok {
			text = format[i : i+n]
			if libc && c.upper {
				text = strings.ToUpper(text)
			}
			text = c.fill(text, ' ')
		}
		b.WriteString(text)
		due += conversionCost + len(text)
		i += n
	}
	return b.String(), true
}

// conversion is one %-sequence of a time format.
type conversion struct {
	pad    byte // one of _ - 0 +, or 0 for the conversion's own
	upper  bool // ^
	change bool // #
	width  int  // -1: none given
	colons int
	verb   byte // 0: the format ends here
	libc   bool // as the C library, not as GNU date
}

// parseConversion reads the sequence at the start of s, which is a '%', and its length.
func parseConversion(s string, libc bool) (c conversion, n int) {
	c.width, c.libc = -1, libc
	i := 1
flags:
	for ; i < len(s); i++ {
		switch s[i] {
		case '+':
			if libc {
				break flags
			}
			c.pad = s[i]
		case '_', '-', '0':
			c.pad = s[i]
		case '^':
			c.upper = true
		case '#':
			c.change = true
		default:
			break flags
		}
	}
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		// Against a format that asks for more than the memory holds.
		c.width = min(max(c.width, 0)*10+int(s[i]-'0'), 4096)
	}
	for ; i < len(s) && s[i] == ':' && !libc; i++ {
		c.colons++
	}
	modifier := byte(0)
	if i < len(s) && (s[i] == 'E' || s[i] == 'O') && c.colons == 0 {
		modifier = s[i]
		i++
	}
	if i >= len(s) {
		return c, len(s)
	}
	c.verb = s[i]
	if c.colons > 0 && c.verb != 'z' || !canModify(modifier, c.verb, libc) {
		c.verb = 0
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return c, i + size
}

// canModify reports whether the conversion may have the modifier E or O. The C library takes more of them than GNU date.
func canModify(modifier, verb byte, libc bool) bool {
	switch modifier {
	case 'E':
		return strings.IndexByte("cCxXyYzZs", verb) >= 0 || libc && strings.IndexByte("%PRTnprtu", verb) >= 0
	case 'O':
		return strings.IndexByte("BbdeHIkljmMSuUVwWyzZs", verb) >= 0 || libc && strings.IndexByte("%CGPRTghnprt", verb) >= 0
	}
	return true
}

// composedOf returns the format that a conversion stands for; "" for a simple one.
func composedOf(verb byte) string {
	switch verb {
	case 'c':
		return "%a %b %e %H:%M:%S %Y"
	case 'D', 'x':
		return "%m/%d/%y"
	case 'r':
		return "%I:%M:%S %p"
	case 'R':
		return "%H:%M"
	case 'T', 'X':
		return "%H:%M:%S"
	}
	return ""
}

// expand returns the value of the conversion; not ok for an unknown one.
func (c *conversion) expand(t time.Time) (text string, ok bool) {
	if composed := composedOf(c.verb); composed != "" {
		return c.text(formatted(composed, t, c.libc)), true
	}
	if n, digits, pad, ok := timeNumber(c.verb, t); ok {
		if c.libc && strings.IndexByte("CGY", c.verb) >= 0 {
			digits = 1
		}
		return c.number(n, digits, pad), c.verb != 'q' || !c.libc
	}
	switch c.verb {
	case '%':
		if c.libc {
			return c.text("%"), true
		}
		return "%", c.width < 0 && c.pad == 0
	case 'n', 't':
		return map[byte]string{'n': "\n", 't': "\t"}[c.verb], true
	case 'a':
		return c.text(t.Weekday().String()[:3]), true
	case 'A':
		return c.text(t.Weekday().String()), true
	case 'b', 'h':
		return c.text(t.Month().String()[:3]), true
	case 'B':
		return c.text(t.Month().String()), true
	case 'F':
		return c.date(t), true
	case 'N':
		return c.nanoseconds(t.Nanosecond()), !c.libc
	case 'p', 'P':
		return c.halfDay(t), true
	case 'z':
		return c.offset(t), c.colons < 4
	case 'Z':
		name, _ := t.Zone()
		if c.change {
			return c.fill(strings.ToLower(name), ' '), true
		}
		return c.text(name), true
	}
	return "", false
}

// timeNumber returns a numeric conversion, its minimal width and its padding.
func timeNumber(verb byte, t time.Time) (n int64, digits int, pad byte, ok bool) {
	isoYear, isoWeek := t.ISOWeek()
	hour12 := (t.Hour()+11)%12 + 1
	day, weekday := t.YearDay()-1, int(t.Weekday())
	of := func(n, digits int, pad byte) (int64, int, byte, bool) { return int64(n), digits, pad, true }
	switch verb {
	case 'C':
		return of(floorDiv(t.Year(), 100), 2, '0')
	case 'd':
		return of(t.Day(), 2, '0')
	case 'e':
		return of(t.Day(), 2, '_')
	case 'g':
		return of(((isoYear%100)+100)%100, 2, '0')
	case 'G':
		return of(isoYear, 4, '0')
	case 'H':
		return of(t.Hour(), 2, '0')
	case 'I':
		return of(hour12, 2, '0')
	case 'j':
		return of(day+1, 3, '0')
	case 'k':
		return of(t.Hour(), 2, '_')
	case 'l':
		return of(hour12, 2, '_')
	case 'm':
		return of(int(t.Month()), 2, '0')
	case 'M':
		return of(t.Minute(), 2, '0')
	case 'q':
		return of((int(t.Month())+2)/3, 1, '0')
	case 's':
		return t.Unix(), 1, '0', true
	case 'S':
		return of(t.Second(), 2, '0')
	case 'u':
		return of((weekday+6)%7+1, 1, '0')
	case 'U':
		return of((day+7-weekday)/7, 2, '0')
	case 'V':
		return of(isoWeek, 2, '0')
	case 'w':
		return of(weekday, 1, '0')
	case 'W':
		return of((day+7-(weekday+6)%7)/7, 2, '0')
	case 'y':
		return of(((t.Year()%100)+100)%100, 2, '0')
	case 'Y':
		return of(t.Year(), 4, '0')
	}
	return 0, 0, 0, false
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

// fill brings s to the width on its left.
func (c *conversion) fill(s string, with byte) string {
	if n := c.width - len(s); n > 0 && (c.pad != '-' || c.libc) {
		return strings.Repeat(string(with), n) + s
	}
	return s
}

func (c *conversion) text(s string) string {
	if c.upper || c.change {
		s = strings.ToUpper(s)
	}
	if c.pad == '0' || c.pad == '+' {
		return c.fill(s, '0')
	}
	return c.fill(s, ' ')
}

func (c *conversion) number(n int64, digits int, pad byte) string {
	if c.pad != 0 {
		pad = c.pad
	}
	s, sign := strconv.FormatInt(n, 10), ""
	if n < 0 {
		s, sign = s[1:], "-"
	} else if pad == '+' && (c.verb == 'Y' || c.verb == 'C' || c.verb == 'G') && (c.width > digits || len(s) > digits) {
		sign = "+"
	}
	width := max(digits, c.width)
	switch pad {
	case '-':
		if c.libc {
			return c.fill(sign+s, ' ')
		}
		return sign + s
	case '_':
		return strings.Repeat(" ", max(0, width-len(s)-len(sign))) + sign + s
	}
	if c.width < 0 {
		width += len(sign)
	}
	return sign + strings.Repeat("0", max(0, width-len(s)-len(sign))) + s
}

// date is %F: the width is the year's and what follows it together.
func (c *conversion) date(t time.Time) string {
	year := conversion{verb: 'Y', pad: c.pad, width: -1}
	if c.width > 0 {
		year.width = max(0, c.width-6)
	}
	digits := 4
	if c.libc {
		digits = 1
	}
	return year.number(int64(t.Year()), digits, '0') + formatted("-%m-%d", t, c.libc)
}

func (c *conversion) halfDay(t time.Time) string {
	s := "AM"
	if t.Hour() >= 12 {
		s = "PM"
	}
	if c.verb == 'P' || c.change {
		return c.fill(strings.ToLower(s), ' ')
	}
	return c.text(s)
}

// nanoseconds is %N, whose width is the number of digits of a fraction.
func (c *conversion) nanoseconds(ns int) string {
	digits := strconv.Itoa(ns + 1e9)[1:]
	width := 9
	if c.width > 0 {
		width = c.width
	}
	switch {
	case width < 9:
		digits = digits[:width]
	case width > 9:
		digits += strings.Repeat("0", width-9)
	}
	if c.pad == '_' {
		trimmed := strings.TrimRight(digits, "0")
		if trimmed == "" {
			trimmed = "0"
		}
		return trimmed + strings.Repeat(" ", len(digits)-len(trimmed))
	}
	return digits
}

// offset is %z and its longer forms.
func (c *conversion) offset(t time.Time) string {
	_, east := t.Zone()
	sign := "+"
	if east < 0 {
		sign, east = "-", -east
	}
	hour, minute, second := east/3600, east/60%60, east%60
	var rest string
	colons := c.colons
	if colons == 3 { // as short as is exact
		switch {
		case second != 0:
			colons = 2
		case minute != 0:
			colons = 1
		}
	}
	two := func(n int) string { return strconv.Itoa(n + 100)[1:] }
	switch colons {
	case 1:
		rest = ":" + two(minute)
	case 2:
		rest = ":" + two(minute) + ":" + two(second)
	case 0:
		return c.plainOffset(sign, hour*100+minute)
	}
	s, width := strconv.Itoa(hour), max(3+len(rest), c.width)
	missing := max(0, width-1-len(rest)-len(s))
	switch c.pad {
	case '-':
		return sign + s + rest
	case '_':
		return strings.Repeat(" ", missing) + sign + s + rest
	}
	return sign + strings.Repeat("0", missing) + s + rest
}

func (c *conversion) plainOffset(sign string, n int) string {
	s, width := strconv.Itoa(n), max(5, c.width)
	switch c.pad {
	case '-':
		return sign + s
	case '_':
		return strings.Repeat(" ", max(0, width-1-len(s))) + sign + s
	}
	return sign + strings.Repeat("0", max(0, width-1-len(s))) + s
}
