package interpreter

import (
	"errors"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
)

// matcher is a compiled expression.
type matcher struct {
	rx     *regex.Matcher
	groups int
	src    string
}

// regexCache caches compiled expressions.
type regexCache struct {
	bytes bool
	exact map[string]*matcher
	fold  map[string]*matcher
}

// maxRegexes bounds how many expressions are cached.
const maxRegexes = 500

// of returns the matcher of an expression; an error in it ends the program.
func (c *regexCache) of(m *machine, src string) *matcher {
	x, err := c.compile(m, src, m.ignoreCase)
	if err != nil {
		panic(&fatal{m.place(0) + "fatal: invalid regexp: " + err.Error() + ": /" + src + "/"})
	}
	return x
}

func (c *regexCache) compile(m *machine, src string, fold bool) (*matcher, error) {
	table := &c.exact
	flags := regex.Extended | regex.Grep
	if fold {
		table, flags = &c.fold, flags|regex.IgnoreCase
	}
	if x := (*table)[src]; x != nil {
		return x, nil
	}
	if c.bytes {
		flags |= regex.Bytes
	}
	m.grow(4096 + len(src)*64)
	rx, err := regex.Compile(translate(src), flags)
	if err != nil {
		return nil, err
	}
	if *table == nil || len(*table) >= maxRegexes {
		*table = map[string]*matcher{}
	}
	m.grow(rx.Size())
	m.spend(rx.Size() >> 4)
	x := &matcher{rx: rx.Matcher(m.p.Spend), groups: rx.Groups(), src: src}
	(*table)[strings.Clone(src)] = x
	return x, nil
}

// find looks for a match at from or behind it.
func (m *machine) find(x *matcher, s string, from int, caps []int) bool {
	ok := x.rx.Find(bytesOf(s), from, caps)
	if !ok {
		if err := x.rx.Err(); err != nil {
			if errors.Is(err, regex.ErrSteps) {
				panic(&fatal{"fatal: regexp too complex: /" + x.src + "/"})
			}
			panic(&stop{err})
		}
	}
	return ok
}

// quotePattern returns the expression that matches s itself.
func quotePattern(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(`\^$.[]|()*+?{}`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// translate makes an extended expression of POSIX from awk's, which has the escapes of its
// strings also between brackets.
func translate(src string) string {
	if strings.IndexByte(src, '\\') < 0 && strings.IndexAny(src, "*+?") != 0 && !strings.Contains(src, "(*") &&
		!strings.Contains(src, "(+") && !strings.Contains(src, "(?") && !strings.Contains(src, "|*") &&
		!strings.Contains(src, "|+") && !strings.Contains(src, "|?") {
		return src
	}
	t := translator{src: src}
	start := true // a star here is itself
	for t.pos < len(src) {
		c := src[t.pos]
		switch c {
		case '\\':
			t.escape()
		case '[':
			t.bracket()
		case '*', '+', '?':
			if start {
				t.out.WriteByte('\\')
			}
			t.out.WriteByte(c)
			t.pos++
		default:
			t.out.WriteByte(c)
			t.pos++
			if c == '(' || c == '|' || c == '^' && start {
				start = true
				continue
			}
		}
		start = false
	}
	return t.out.String()
}

type translator struct {
	src string
	pos int
	out strings.Builder // bounded: four times the expression, which is charged with 64 bytes for each
}

// escape translates an escape outside of brackets.
func (t *translator) escape() {
	if t.pos+1 == len(t.src) {
		t.out.WriteString(`\\`)
		t.pos++
		return
	}
	c := t.src[t.pos+1]
	switch c {
	case 'y':
		t.out.WriteString(`\b`)
		t.pos += 2
		return
	case 'B', '<', '>', 'w', 'W', 's', 'S', '`', '\'', '\\':
		t.out.WriteByte('\\')
		t.out.WriteByte(c)
		t.pos += 2
		return
	}
	if b, n := escapedByte(t.src[t.pos+1:]); n > 0 {
		if b == '\n' || b >= 0x80 || isDigit(b) || isNameStart(b) || b < ' ' || strings.IndexByte(`\^$.[]|()*+?{}`, b) < 0 {
			t.out.WriteByte(b)
		} else {
			t.out.WriteByte('\\')
			t.out.WriteByte(b)
		}
		t.pos += 1 + n
		return
	}
	if strings.IndexByte(`^$.[]|()*+?{}`, c) >= 0 {
		t.out.WriteByte('\\')
	}
	t.out.WriteByte(c)
	t.pos += 2
}

// bracket translates an expression in brackets. Characters that are literal only at the edge are put there.
func (t *translator) bracket() {
	src, i := t.src, t.pos+1
	neg := i < len(src) && src[i] == '^'
	if neg {
		i++
	}
	begin := i
	var items strings.Builder
	closing, hyphen, caret := false, false, false
	for i < len(src) && (src[i] != ']' || i == begin) {
		c, n := src[i], 1
		switch {
		case c == '[' && i+1 < len(src) && strings.IndexByte(":.=", src[i+1]) >= 0:
			if k := strings.Index(src[i+2:], string(src[i+1])+"]"); k >= 0 {
				items.WriteString(src[i : i+k+4])
				i += k + 4
				continue
			}
		case c == '\\' && i+1 < len(src):
			if class := classOf(src[i+1]); class != "" {
				items.WriteString(class)
				i += 2
				continue
			}
			b, k := escapedByte(src[i+1:])
			if k == 0 {
				b, k = src[i+1], 1
			}
			c, n = b, 1+k
		case c == '-':
			// A range, or at an edge itself.
			items.WriteByte('-')
			i++
			continue
		}
		i += n
		switch c {
		case ']':
			closing = true
		case '-':
			hyphen = true
		case '^':
			caret = true
		default:
			items.WriteByte(c)
		}
	}
	if i >= len(src) { // Not closed: pass it on unchanged; compiling it reports the error.
		t.out.WriteString(src[t.pos:])
		t.pos = len(src)
		return
	}
	t.pos = i + 1
	t.out.WriteByte('[')
	if neg {
		t.out.WriteByte('^')
	}
	if closing {
		t.out.WriteByte(']')
	}
	body := items.String()
	if body == "" && caret && !closing && !neg { // A caret alone must not be the first.
		if hyphen {
			t.out.WriteString("-^]")
		} else {
			s := strings.TrimSuffix(t.out.String(), "[")
			t.out.Reset()
			t.out.WriteString(s + `\^`)
		}
		return
	}
	t.out.WriteString(body)
	if caret {
		t.out.WriteByte('^')
	}
	if hyphen {
		t.out.WriteByte('-')
	}
	t.out.WriteByte(']')
}

// classOf returns the class that an escape means between brackets.
func classOf(c byte) string {
	switch c {
	case 'w':
		return "[:alnum:]_"
	case 's':
		return "[:space:]"
	}
	return ""
}
