package curl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// glob is a URL with sets and ranges: {a,b}, [1-10:2], [a-z].
type glob struct {
	pieces []globPiece
	count  int // of URLs
}

// globPiece is text, or a place with one of several values.
type globPiece struct {
	text   string
	values int // 0: only text
	value  func(i int) string
}

// globPieceSize is about how many bytes of memory a set, a range or a value of a set takes.
const globPieceSize = 256

const (
	maxGlob    = 100_000 // URLs of one word
	maxGlobSet = 4096    // values of one set
)

// globFault is a pattern that cannot be read; pos counts from 1, 0 for none.
func globFault(url, what string, pos int) *fault {
	if pos == 0 {
		return failed(codeURL, "%s", what)
	}
	text := fmt.Sprintf("%s in URL position %d:\n%s\n%s^", what, pos, url, strings.Repeat(" ", pos-1)) // bounded: by the URL, which is charged
	if pos > 512 {
		text = fmt.Sprintf("%s in URL position %d", what, pos)
	}
	return &fault{code: codeURL, text: text}
}

// newGlob reads a URL with patterns.
func newGlob(p *shell.Proc, url string) (*glob, *fault) {
	parts := strings.Count(url, "{") + strings.Count(url, "[") + strings.Count(url, ",")
	if err := p.Reserve(2*len(url) + globPieceSize*parts); err != nil {
		return nil, &fault{codeMemory, "Out of memory", err}
	}
	g := &glob{count: 1}
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			g.pieces = append(g.pieces, globPiece{text: text.String()})
			text.Reset()
		}
	}
	for i := 0; i < len(url); {
		c := url[i]
		switch {
		case c == '\\' && i+1 < len(url) && strings.IndexByte("{[}]", url[i+1]) >= 0:
			text.WriteByte(url[i+1])
			i += 2
			continue
		case c == '[' && ipv6At(url[i:]) > 0:
			n := ipv6At(url[i:])
			text.WriteString(url[i : i+n])
			i += n
			continue
		case strings.HasPrefix(url[i:], "[]"):
			text.WriteString("[]")
			i += 2
			continue
		case c == '}' || c == ']':
			return nil, globFault(url, "unmatched close brace/bracket", i+1)
		case c != '{' && c != '[':
			text.WriteByte(c)
			i++
			continue
		}
		flush()
		var piece globPiece
		var n int
		var f *fault
		if c == '{' {
			piece, n, f = globSet(url, i)
		} else {
			piece, n, f = globRange(url, i)
		}
		if f != nil {
			return nil, f
		}
		if g.count > maxGlob/piece.values {
			return nil, globFault(url, "range overflow", n)
		}
		g.count *= piece.values
		g.pieces = append(g.pieces, piece)
		i = n
	}
	flush()
	return g, nil
}

// ipv6At returns the length of an address in brackets, 0 when there is none.
func ipv6At(s string) int {
	end := strings.IndexByte(s, ']')
	if end < 0 || strings.Count(s[:end], ":") < 2 || strings.Trim(s[1:end], "0123456789abcdefABCDEF:.%") != "" {
		return 0
	}
	return end + 1
}

// globSet reads {a,b} at i and returns where it ends.
func globSet(url string, i int) (globPiece, int, *fault) {
	var values []string
	var value strings.Builder
	for j := i + 1; j < len(url); j++ {
		switch c := url[j]; c {
		case '{', '[':
			return globPiece{}, 0, globFault(url, "nested brace", j+1)
		case ']':
			return globPiece{}, 0, globFault(url, "unexpected close bracket", j+1)
		case '\\':
			if j+1 < len(url) && strings.IndexByte("{}[],", url[j+1]) >= 0 {
				j++
			}
			value.WriteByte(url[j])
		case ',', '}':
			if c == '}' && j == i+1 {
				return globPiece{}, 0, globFault(url, "empty string within braces", j+1)
			}
			if len(values) >= maxGlobSet {
				return globPiece{}, 0, globFault(url, "range overflow", j+1)
			}
			values = append(values, value.String())
			value.Reset()
			if c == '}' {
				return globPiece{values: len(values), value: func(i int) string { return values[i] }}, j + 1, nil
			}
		default:
			value.WriteByte(c)
		}
	}
	return globPiece{}, 0, globFault(url, "unmatched brace", i+1)
}

// globRange reads [1-10:2] or [a-z] at i and returns where it ends.
func globRange(url string, i int) (globPiece, int, *fault) {
	s := url[i+1:]
	if s == "" || !isDigit(s[0]) && !isLetter(s[0]) {
		return globPiece{}, 0, globFault(url, "bad range specification", i+2)
	}
	var low, high uint64
	from, rest := s[:1], s[1:]
	letters := isLetter(s[0])
	bad := func(at string) (globPiece, int, *fault) {
		return globPiece{}, 0, globFault(url, "bad range", len(url)-len(at)+1)
	}
	if letters {
		if len(rest) < 3 || rest[0] != '-' || rest[2] != ']' && rest[2] != ':' {
			return bad(s)
		}
		if !isLetter(rest[1]) {
			return bad(rest[min(len(rest), 3):])
		}
		low, high, rest = uint64(from[0]), uint64(rest[1]), rest[2:]
	} else {
		var ok bool
		from = s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
		if low, rest, ok = leadingNumber(s); !ok || !strings.HasPrefix(rest, "-") {
			return bad(s)
		}
		if high, rest, ok = leadingNumber(rest[1:]); !ok {
			return bad(rest)
		}
	}
	step := uint64(1)
	if strings.HasPrefix(rest, ":") {
		var ok bool
		if step, rest, ok = leadingNumber(rest[1:]); !ok && letters {
			return bad(s)
		} else if !ok {
			return bad(rest)
		}
	}
	if !strings.HasPrefix(rest, "]") {
		return bad(rest)
	}
	rest = rest[1:]
	if low > high || step == 0 || step > high-low && low != high {
		return bad(rest)
	}
	count := (high-low)/step + 1
	if count > maxGlob {
		return globPiece{}, 0, globFault(url, "range overflow", len(url)-len(rest)+1)
	}
	width := 0
	if strings.HasPrefix(from, "0") {
		width = len(from)
	}
	value := func(i int) string {
		if letters {
			return string(rune(low + uint64(i)*step))
		}
		return fmt.Sprintf("%0*d", width, low+uint64(i)*step)
	}
	return globPiece{values: int(count), value: value}, len(url) - len(rest), nil
}

func leadingNumber(s string) (n uint64, rest string, ok bool) {
	rest = strings.TrimLeft(s, "0123456789")
	n, err := strconv.ParseUint(s[:len(s)-len(rest)], 10, 62)
	return n, rest, err == nil
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// url returns the i-th URL and the values of its patterns. The last pattern changes first.
func (g *glob) url(i int) (url string, values []string) {
	at := make([]int, len(g.pieces))
	for k := len(g.pieces) - 1; k >= 0; k-- {
		if n := g.pieces[k].values; n > 0 {
			at[k] = i % n
			i /= n
		}
	}
	var b strings.Builder
	for k, p := range g.pieces {
		if p.values == 0 {
			b.WriteString(p.text)
			continue
		}
		v := p.value(at[k])
		values = append(values, v)
		b.WriteString(v)
	}
	return b.String(), values
}

// fileName puts the values of patterns in the place of #1, #2 ...
func fileName(name string, values []string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '#' || i+1 == len(name) || name[i+1] < '0' || name[i+1] > '9' {
			b.WriteByte(name[i])
			continue
		}
		j := i + 1
		for j < len(name) && name[j] >= '0' && name[j] <= '9' {
			j++
		}
		n, err := strconv.Atoi(name[i+1 : j])
		if err != nil || n < 1 || n > len(values) {
			b.WriteString(name[i:j])
		} else {
			b.WriteString(values[n-1])
		}
		i = j - 1
	}
	return b.String()
}
