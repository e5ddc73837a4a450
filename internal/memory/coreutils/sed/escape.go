package sed

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
)

// sedUse says what a text with escapes is for.
type sedUse uint8

const (
	sedForRegex sedUse = iota
	sedForReplacement
	sedForText
	sedForY
)

// delimited reads up to the delimiter; in regular expressions one in brackets does not count.
// Backslashes stay, but for those before the delimiter.
func (p *sedParser) delimited(delim int, isRegex bool) (text string, ok bool) {
	if delim >= utf8.RuneSelf && !p.s.bytes {
		p.fail(sedErrDelimiter)
	}
	var b strings.Builder // bounded: a part of the script, which is charged
	for {                 // bounded: the script ends
		ch := p.char()
		switch {
		case ch == sedEOF:
			return "", false
		case ch == '\n':
			p.back(ch)
			return "", false
		case ch == delim:
			return b.String(), true
		case ch == '\\':
			if ch = p.char(); ch == sedEOF {
				return "", false
			}
			switch {
			case ch == 'n' && isRegex:
				ch = '\n'
			case ch != '\n' && (ch != delim || !isRegex && ch == '&'):
				b.WriteByte('\\')
			}
		case ch == '[' && isRegex && delim != '[':
			b.WriteByte('[')
			if !p.bracket(&b) {
				return "", false
			}
			continue
		}
		b.WriteByte(byte(ch))
	}
}

// bracket copies the rest of a bracket expression.
//
// bounded: a part of the script, which is charged.
func (p *sedParser) bracket(b *strings.Builder) bool {
	begins := true
	for { // bounded: the script ends
		ch := p.char()
		if ch == '^' && begins {
			b.WriteByte('^')
			ch = p.char()
		}
		switch {
		case ch == sedEOF:
			return false
		case ch == '\n':
			p.back(ch)
			return false
		case ch == ']' && !begins:
			b.WriteByte(']')
			return true
		case ch == '\\' && p.pos < len(p.src) && (p.src[p.pos] == 'n' || p.src[p.pos] == '\\'):
			if ch = p.char(); ch == 'n' {
				ch = '\n'
			} else {
				b.WriteByte('\\')
			}
		case ch == '[' && p.pos < len(p.src) && strings.IndexByte(".:=", p.src[p.pos]) >= 0:
			closing := p.src[p.pos:p.pos+1] + "]"
			if end := strings.Index(p.src[p.pos+1:], closing); end >= 0 {
				part := p.src[p.pos-1 : p.pos+1+end+2]
				if !strings.Contains(part, "\n") {
					b.WriteString(part)
					p.pos += len(part) - 1
					begins = false
					continue
				}
			}
		}
		b.WriteByte(byte(ch))
		begins = false
	}
}

// escapes replaces \a, \x41 and the like. In a replacement, what an escape stands for has no
// special meaning. For text other backslashes are dropped, unless all are retained.
func (p *sedParser) escapes(b []byte, use sedUse, keep bool) []byte {
	if !strings.Contains(string(b), `\`) {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 >= len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		c, n, ok := p.escape(b[i:], use)
		switch {
		case !ok && use == sedForText && !keep:
			out = append(out, b[i])
			continue
		case !ok:
			out = append(out, '\\', b[i])
			continue
		case use == sedForReplacement && (c == '&' || c == '\\') && n > 1,
			use == sedForY && c == '\\', use == sedForReplacement && c == '\n':
			out = append(out, '\\')
		}
		out = append(out, c)
		i += n - 1
	}
	return out
}

// escape reads an escape without its backslash and returns the byte and how long it is.
func (p *sedParser) escape(b []byte, use sedUse) (c byte, n int, ok bool) {
	switch b[0] {
	case 'a':
		return '\a', 1, true
	case 'f':
		return '\f', 1, true
	case 'n':
		return '\n', 1, use == sedForReplacement || use == sedForText
	case 'r':
		return '\r', 1, true
	case 't':
		return '\t', 1, true
	case 'v':
		return '\v', 1, true
	case 'c':
		return p.control(b)
	case 'd':
		c, n = numberEscape(b, 10)
		return c, n, true
	case 'o':
		c, n = numberEscape(b, 8)
		return c, n, true
	case 'x':
		c, n = numberEscape(b, 16)
		return c, n, true
	}
	return 0, 0, false
}

func (p *sedParser) control(b []byte) (c byte, n int, ok bool) {
	if len(b) < 2 {
		return '\\', 1, true
	}
	n = 2
	if b[1] == '\\' {
		if len(b) < 3 || b[2] != '\\' {
			p.fail(sedErrRecursive)
		}
		n = 3
	}
	return ascii.ToUpper(b[1]) ^ 0x40, n, true
}

// numberEscape reads up to three digits; without one the letter stands for itself.
func numberEscape(b []byte, base int) (c byte, n int) {
	value, n := 0, 1
	for limit := 1; n < len(b) && limit <= 255; limit *= base {
		d := strings.IndexByte("0123456789abcdef", ascii.ToLower(b[n]))
		if d < 0 || d >= base {
			break
		}
		value = value*base + d
		n++
	}
	if n == 1 {
		return b[0], 1
	}
	return byte(value), n
}

// regexp compiles an expression; groups is how many the replacement needs.
func (p *sedParser) regexp(source string, fold, multiline bool, groups int) *sedRegexp {
	if source == "" {
		if fold || multiline {
			p.fail(sedErrModifiers)
		}
		return &sedRegexp{empty: true}
	}
	flags := regex.Sed
	if p.s.extended {
		flags |= regex.Extended
	} else if p.s.posix {
		source = posixOnly(source)
	}
	if fold {
		flags |= regex.IgnoreCase
	}
	if multiline {
		flags |= regex.Multiline | regex.NoNewline
		if p.s.delim == 0 {
			flags |= regex.NulLines
		}
	}
	if p.s.bytes {
		flags |= regex.Bytes
	}
	source = string(p.escapes([]byte(source), sedForRegex, false))
	re, err := regex.Compile(source, flags)
	if err != nil {
		text := err.Error()
		if e, ok := errors.AsType[*regex.Error](err); ok {
			text = e.Text
		}
		p.fail("%s", text)
	}
	if re.Groups() < groups {
		p.fail(sedErrReference, groups)
	}
	return &sedRegexp{Matcher: re.Matcher(p.s.p.Spend), compiled: re, source: source, flags: flags}
}

// posixOnly takes the meaning from \+, \? and \|, which GNU has added.
func posixOnly(source string) string {
	var b strings.Builder
	for i := 0; i < len(source); i++ {
		if source[i] == '\\' && i+1 < len(source) {
			i++
			if strings.IndexByte("+?|", source[i]) < 0 {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(source[i])
	}
	return b.String()
}
