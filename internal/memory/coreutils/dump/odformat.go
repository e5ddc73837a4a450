package dump

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/cformat"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
)

// odFormat is one type of od: how many bytes a field has and how it is shown.
type odFormat struct {
	verb  byte // a c d f o u x
	size  int
	width int  // of a field without the space before it
	pad   int  // spaces of a line, spread over its fields
	text  bool // show the characters at the end of the line
	big   bool
}

// parseODFormat reads one type from the front of s and returns its length. In the message
// of what is wrong % stands for the whole string.
func parseODFormat(s string, big bool) (f odFormat, n int, msg string) {
	f.verb, f.big, n = s[0], big, 1
	switch f.verb {
	case 'd', 'o', 'u', 'x', 'f':
		size, used, why := odSize(s[1:], f.verb)
		if why != "" {
			return f, 0, why
		}
		f.size = size
		n += used
	case 'a', 'c':
		f.size = 1
	default:
		return f, 0, fmt.Sprintf("invalid character '%c' in type string", f.verb)
	}
	f.width = odWidth(f.verb, f.size)
	if n < len(s) && s[n] == 'z' {
		f.text = true
		n++
	}
	return f, n, ""
}

func odWidth(verb byte, size int) int {
	switch verb {
	case 'a', 'c':
		return 3
	case 'x':
		return 2 * size
	case 'f':
		return map[int]int{4: 15, 8: 24, 16: 29}[size]
	case 'o':
		return map[int]int{1: 3, 2: 6, 4: 11, 8: 22}[size]
	case 'u':
		return map[int]int{1: 3, 2: 5, 4: 10, 8: 20}[size]
	}
	return map[int]int{1: 4, 2: 6, 4: 11, 8: 20}[size]
}

// odSize reads the size behind a type.
func odSize(s string, verb byte) (size, used int, msg string) {
	letters := map[byte]int{'C': 1, 'S': 2, 'I': 4, 'L': 8}
	size = 4
	if verb == 'f' {
		letters = map[byte]int{'F': 4, 'D': 8, 'L': 16}
		size = 8
	}
	if s == "" {
		return size, 0, ""
	}
	if n, ok := letters[s[0]]; ok {
		return n, 1, ""
	}
	for used < len(s) && ascii.IsDigit(s[used]) {
		used++
	}
	if used == 0 {
		return size, 0, ""
	}
	n, err := strconv.Atoi(s[:used])
	if err != nil {
		return 0, 0, "invalid type string '%'"
	}
	if verb == 'f' {
		if n != 4 && n != 8 && n != 16 {
			return 0, 0, fmt.Sprintf("invalid type string '%%';\nthis system doesn't provide a %d-byte floating point type", n)
		}
	} else if n != 1 && n != 2 && n != 4 && n != 8 {
		return 0, 0, fmt.Sprintf("invalid type string '%%';\nthis system doesn't provide a %d-byte integral type", n)
	}
	return n, used, ""
}

// write shows the field b right-aligned in width columns.
func (f *odFormat) write(out *program.Output, b []byte, width int) {
	s := f.field(b)
	for i := len(s); i < width; i++ {
		_ = out.WriteByte(' ')
	}
	_, _ = out.WriteString(s)
}

func (f *odFormat) field(b []byte) string {
	switch f.verb {
	case 'a':
		return odNamed(b[0])
	case 'c':
		return odEscaped(b[0])
	case 'f':
		return f.float(b)
	}
	n := f.uint(b)
	switch f.verb {
	case 'x':
		return fmt.Sprintf("%0*x", 2*f.size, n)
	case 'o':
		return fmt.Sprintf("%0*o", odWidth('o', f.size), n)
	case 'u':
		return strconv.FormatUint(n, 10)
	}
	shift := 64 - 8*f.size
	return strconv.FormatInt(int64(n<<shift)>>shift, 10)
}

func (f *odFormat) uint(b []byte) uint64 {
	var n uint64
	for i := range b {
		k := len(b) - 1 - i
		if f.big {
			k = i
		}
		n = n<<8 | uint64(b[k])
	}
	return n
}

func (f *odFormat) float(b []byte) string {
	switch f.size {
	case 4:
		return cformat.ShortestFloat(float64(math.Float32frombits(uint32(f.uint(b)))), 32)
	case 8:
		return cformat.ShortestFloat(math.Float64frombits(f.uint(b)), 64)
	}
	ordered := append([]byte(nil), b...)
	if f.big {
		for i, j := 0, len(ordered)-1; i < j; i, j = i+1, j-1 {
			ordered[i], ordered[j] = ordered[j], ordered[i]
		}
	}
	return longDouble(ordered)
}

// longDouble shows the 80-bit number of x86 in 16 bytes.
func longDouble(b []byte) string {
	mantissa := binary.LittleEndian.Uint64(b)
	se := binary.LittleEndian.Uint16(b[8:])
	exp := int(se & 0x7fff)
	sign := ""
	if se&0x8000 != 0 {
		sign = "-"
	}
	switch {
	case exp == 0x7fff && mantissa<<1 == 0:
		return sign + "inf"
	case exp == 0x7fff || exp != 0 && mantissa>>63 == 0:
		return sign + "nan"
	case mantissa == 0:
		return sign + "0"
	}
	from, precise := 18, uint(64)
	if mantissa>>63 == 0 {
		from, precise = 1, uint(bits.Len64(mantissa))
	}
	if exp == 0 {
		exp = 1
	}
	x := new(big.Float).SetPrec(64).SetUint64(mantissa)
	x.SetMantExp(x, exp-16383-63)
	for prec := from; prec <= 21; prec++ {
		s := x.Text('e', prec-1)
		back, _, err := big.ParseFloat(s, 10, precise, big.ToNearestEven)
		if err == nil && back.Cmp(x) == 0 || prec == 21 {
			return sign + shortBig(x, prec)
		}
	}
	return ""
}

// shortBig is %g of x with prec digits.
func shortBig(x *big.Float, prec int) string {
	mantissa, exponent, _ := strings.Cut(x.Text('e', prec-1), "e")
	exp, _ := strconv.Atoi(exponent)
	if exp < -4 || exp >= prec {
		return cformat.TrimZeros(mantissa) + "e" + exponent
	}
	return cformat.TrimZeros(x.Text('f', prec-1-exp))
}

var odNames = [...]string{
	"nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "nl", "vt", "ff", "cr", "so", "si",
	"dle", "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "fs", "gs", "rs", "us", "sp",
}

func odNamed(c byte) string {
	c &= 0x7f
	switch {
	case int(c) < len(odNames):
		return odNames[c]
	case c == 0x7f:
		return "del"
	}
	return string(rune(c))
}

func odEscaped(c byte) string {
	switch {
	case c == 0:
		return `\0`
	case c >= 7 && c <= 13:
		return `\` + "abtnvfr"[c-7:c-6]
	case c >= ' ' && c <= '~':
		return string(rune(c))
	}
	return fmt.Sprintf("%03o", c)
}
