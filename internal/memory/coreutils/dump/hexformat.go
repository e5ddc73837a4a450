package dump

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/cformat"
)

// hexFormat is one format of hexdump.
type hexFormat struct{ units []*hexUnit }

// hexUnit is a text with conversions that is applied count times.
type hexUnit struct {
	count   int
	counted bool // the count was given
	bytes   int  // of each conversion; 0: what the conversion says
	parts   []hexPart
	atEnd   bool // holds %_A
}

// hexPart is one conversion with the text around it, or text alone (verb 0).
type hexPart struct {
	before, after string
	lastAfter     string // after, or before of a text, for the last of several turns
	verb          byte   // one of printf's, or a A C P U for the %_ kinds
	base          byte   // of a and A: d, o, x
	size          int
	cformat.Field
}

func (u *hexUnit) size() int {
	n := 0
	for i := range u.parts {
		n += u.parts[i].size
	}
	return n * u.count
}

func (f *hexFormat) size() int {
	n := 0
	for _, u := range f.units {
		if !u.atEnd {
			n += u.size()
		}
	}
	return n
}

// trim drops one white space character at the end of the last of several turns.
func (u *hexUnit) trim() {
	for i := range u.parts {
		part := &u.parts[i]
		s := part.after
		if part.verb == 0 {
			s = part.before
		}
		if n := len(s); n > 0 && strings.IndexByte(" \t\n", s[n-1]) >= 0 {
			s = s[:n-1]
		}
		part.lastAfter = s
	}
}

// parseHexFormat reads units: [COUNT]["/"BYTES] "TEXT".
func parseHexFormat(s string) (*hexFormat, error) {
	f := &hexFormat{}
	rest := strings.TrimLeft(s, " \t\n")
	bad := fmt.Errorf("bad format {%s}", s)
	for rest != "" {
		u := &hexUnit{count: 1}
		if ascii.IsDigit(rest[0]) {
			n, tail := cformat.LeadingNumber(rest)
			if n < 0 || tail == "" || strings.IndexByte(" \t\n/\"", tail[0]) < 0 {
				return nil, bad
			}
			u.count, u.counted = n, true
			rest = strings.TrimLeft(tail, " \t\n")
		}
		if strings.HasPrefix(rest, "/") {
			rest = strings.TrimLeft(rest[1:], " \t\n")
			if rest != "" && ascii.IsDigit(rest[0]) {
				n, tail := cformat.LeadingNumber(rest)
				if n < 0 {
					return nil, bad
				}
				u.bytes = n
				rest = strings.TrimLeft(tail, " \t\n")
			}
		}
		if rest == "" || rest[0] != '"' {
			return nil, bad
		}
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 {
			return nil, bad
		}
		if err := u.parse(rest[1:1+end], s); err != nil {
			return nil, err
		}
		f.units = append(f.units, u) // bounded: add has charged for the text
		rest = strings.TrimLeft(rest[end+2:], " \t\n")
	}
	return f, nil
}

func (u *hexUnit) parse(text, whole string) error {
	text = hexEscapes(text)
	for text != "" {
		part, rest, err := u.part(text, whole)
		if err != nil {
			return err
		}
		if part.verb == 'A' {
			u.atEnd = true
		}
		u.parts = append(u.parts, part) // bounded: add has charged for the text
		text = rest
	}
	conversions := 0
	for i := range u.parts {
		if u.parts[i].size > 0 {
			conversions++
		}
	}
	if u.bytes > 0 && conversions > 1 {
		return errors.New("byte count with multiple conversion characters")
	}
	return nil
}

func (u *hexUnit) part(text, whole string) (hexPart, string, error) {
	part := hexPart{Field: cformat.Field{Prec: -1}}
	before, rest, ok := strings.Cut(text, "%")
	part.before = before
	if !ok {
		return part, "", nil
	}
	n := 0
	for n < len(rest) && strings.IndexByte("#-+ 0", rest[n]) >= 0 {
		n++
	}
	part.Flags, rest = rest[:n], rest[n:]
	if rest != "" && ascii.IsDigit(rest[0]) {
		part.Width, rest = cformat.LeadingNumber(rest)
	}
	if strings.HasPrefix(rest, ".") {
		rest = rest[1:]
		part.Prec = 0
		if rest != "" && ascii.IsDigit(rest[0]) {
			part.Prec, rest = cformat.LeadingNumber(rest)
		}
	}
	if rest == "" || part.Width < 0 || part.Prec < -1 {
		return part, "", fmt.Errorf("bad format {%s}", whole)
	}
	part.verb, rest = rest[0], rest[1:]
	rest, err := u.conversion(&part, rest)
	if err != nil {
		return part, "", err
	}
	if i := strings.IndexByte(rest, '%'); i >= 0 {
		part.after, rest = rest[:i], rest[i:]
	} else {
		part.after, rest = rest, ""
	}
	return part, rest, nil
}

// conversion sets the kind and the size of a part whose verb was read.
func (u *hexUnit) conversion(part *hexPart, rest string) (string, error) {
	unknown := fmt.Errorf("bad conversion character %%%c", part.verb)
	sized := func(def int, allowed ...int) error {
		part.size = def
		if u.bytes == 0 {
			return nil
		}
		part.size = u.bytes
		if slices.Contains(allowed, u.bytes) {
			return nil
		}
		return fmt.Errorf("bad byte count for conversion character %c", part.verb)
	}
	switch part.verb {
	case 'd', 'i', 'o', 'u', 'x', 'X':
		return rest, sized(4, 1, 2, 4, 8)
	case 'e', 'E', 'f', 'g', 'G':
		return rest, sized(8, 4, 8)
	case 'c':
		return rest, sized(1, 1)
	case 's':
		part.size = u.bytes
		if u.bytes == 0 {
			part.size = part.Prec
		}
		if part.size < 0 {
			return rest, errors.New("%s requires a precision or a byte count")
		}
		return rest, nil
	case '_':
		return u.special(part, rest, unknown)
	}
	return rest, unknown
}

func (u *hexUnit) special(part *hexPart, rest string, unknown error) (string, error) {
	if rest == "" {
		return rest, unknown
	}
	kind := rest[0]
	rest = rest[1:]
	switch kind {
	case 'A', 'a':
		part.verb = kind
		if rest == "" || strings.IndexByte("dox", rest[0]) < 0 {
			return rest, unknown
		}
		part.base = rest[0]
		return rest[1:], nil
	case 'c', 'p', 'u':
		part.verb = kind &^ 0x20
		part.size = 1
		if u.bytes > 1 {
			return rest, fmt.Errorf("bad byte count for conversion character %c", kind)
		}
		return rest, nil
	}
	return rest, fmt.Errorf("bad conversion character %%_%c", kind)
}

func hexEscapes(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if k := strings.IndexByte("abtnvfr", s[i]); k >= 0 {
			b.WriteByte("\a\b\t\n\v\f\r"[k])
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func (part *hexPart) address(at int64) string {
	return part.Pad(strconv.FormatInt(at, map[byte]int{'d': 10, 'o': 8, 'x': 16}[part.base]), true)
}

// field shows the bytes of one conversion.
func (part *hexPart) field(b []byte) string {
	switch part.verb {
	case 'C':
		return part.Pad(odEscaped(b[0]), false)
	case 'P', 'c':
		c := b[0]
		if part.verb == 'P' && (c < ' ' || c > '~') {
			c = '.'
		}
		return part.Pad(string([]byte{c}), false)
	case 'U':
		return part.Pad(hexName(b[0]), false)
	case 's':
		if i := strings.IndexByte(string(b), 0); i >= 0 {
			b = b[:i]
		}
		return part.Pad(string(b), false)
	}
	var n uint64
	for _, v := range slices.Backward(b) {
		n = n<<8 | uint64(v)
	}
	return part.Pad(part.number(n), true)
}

func (part *hexPart) number(n uint64) string {
	alternate := strings.Contains(part.Flags, "#")
	shift := 64 - 8*part.size
	switch part.verb {
	case 'd', 'i':
		s := strconv.FormatInt(int64(n<<shift)>>shift, 10)
		if s[0] != '-' && strings.Contains(part.Flags, "+") {
			s = "+" + s
		}
		return s
	case 'o':
		s := strconv.FormatUint(n, 8)
		if alternate {
			s = "0" + s
		}
		return s
	case 'u':
		return strconv.FormatUint(n, 10)
	case 'x', 'X':
		s := strconv.FormatUint(n, 16)
		if alternate && n != 0 {
			s = "0x" + s
		}
		if part.verb == 'X' {
			s = strings.ToUpper(s)
		}
		return s
	}
	x := math.Float64frombits(n)
	if part.size == 4 {
		x = float64(math.Float32frombits(uint32(n)))
	}
	return cformat.Float(x, part.verb, part.Prec, alternate)
}

func hexName(c byte) string {
	switch {
	case c == '\n':
		return "lf"
	case c < ' ':
		return odNames[c]
	case c == 0x7f:
		return "del"
	case c > 0x7f:
		return fmt.Sprintf("%02x", c)
	}
	return string(rune(c))
}
