package git

import "strings"

// Variable is one variable of a configuration file.
type Variable struct {
	Key   string // section.name or section.subsection.name; section and name in lower case
	Value string
}

// ReadConfig reads the variables of a configuration file, without those of the files that it includes. A file that
// cannot be read has none.
func ReadConfig(file string) []Variable { return ParseConfig(readFile(file)) }

// ParseConfig reads the variables of a configuration file in the syntax of
// git-config(1). It never fails: git itself stops at the first fault, and the variables
// before it are valid.
func ParseConfig(data []byte) []Variable {
	p := parser{text: strings.TrimPrefix(string(data), "\ufeff")}
	for p.next() {
	}
	return p.vars
}

type parser struct {
	text    string
	pos     int
	section string
	vars    []Variable
}

// next reads one section header, variable, comment or blank.
func (p *parser) next() bool {
	if p.pos >= len(p.text) {
		return false
	}
	switch p.text[p.pos] {
	case '[':
		return p.header()
	case '#', ';':
		p.line()
		return true
	case ' ', '\t', '\n', '\r':
		p.pos++
		return true
	}
	return p.variable()
}

// line skips the rest of a line.
func (p *parser) line() {
	for p.pos < len(p.text) && p.text[p.pos] != '\n' {
		p.pos++
	}
}

// header reads [section], [section "Sub section"] and the old [section.sub].
func (p *parser) header() bool {
	p.pos++
	start := p.pos
	for p.pos < len(p.text) && !strings.ContainsRune("]\" \t\n", rune(p.text[p.pos])) {
		p.pos++
	}
	p.section = strings.ToLower(p.text[start:p.pos])
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t') {
		p.pos++
	}
	if p.pos < len(p.text) && p.text[p.pos] == '"' {
		p.pos++
		var sub strings.Builder
		for ; p.pos < len(p.text) && p.text[p.pos] != '"' && p.text[p.pos] != '\n'; p.pos++ {
			if p.text[p.pos] == '\\' && p.pos+1 < len(p.text) {
				p.pos++
			}
			sub.WriteByte(p.text[p.pos])
		}
		p.section += "." + sub.String()
		p.pos++
	}
	if p.pos >= len(p.text) || p.text[p.pos] != ']' {
		return false
	}
	p.pos++
	return true
}

func (p *parser) variable() bool {
	start := p.pos
	for p.pos < len(p.text) && isKeyByte(p.text[p.pos]) {
		p.pos++
	}
	name := strings.ToLower(p.text[start:p.pos])
	if name == "" {
		return false
	}
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t') {
		p.pos++
	}
	value := ""
	if p.pos < len(p.text) && p.text[p.pos] == '=' {
		p.pos++
		value = p.value()
	}
	p.vars = append(p.vars, Variable{Key: p.section + "." + name, Value: value})
	return true
}

func isKeyByte(c byte) bool {
	return c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// value reads to the end of the line: quotes, escapes, continuation, comments.
func (p *parser) value() string {
	var out []byte
	quoted, keep := false, 0
	for ; p.pos < len(p.text) && p.text[p.pos] != '\n'; p.pos++ {
		c := p.text[p.pos]
		switch {
		case c == '"':
			quoted = !quoted
			keep = len(out)
			continue
		case !quoted && (c == '#' || c == ';'):
			p.line()
			return string(trimBlank(out, keep))
		case c == '\\' && p.pos+1 < len(p.text):
			p.pos++
			c = p.text[p.pos]
			if c == '\r' && p.pos+1 < len(p.text) && p.text[p.pos+1] == '\n' {
				p.pos++
				c = '\n'
			}
			if c == '\n' {
				continue
			}
			out = append(out, unescape(c))
			keep = len(out)
			continue
		}
		if len(out) == 0 && !quoted && (c == ' ' || c == '\t') {
			continue
		}
		out = append(out, c)
		if quoted {
			keep = len(out)
		}
	}
	return string(trimBlank(out, keep))
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	}
	return c
}

// trimBlank cuts trailing blanks, but none of the first keep bytes, which were quoted.
func trimBlank(out []byte, keep int) []byte {
	for len(out) > keep && strings.IndexByte(" \t\r", out[len(out)-1]) >= 0 {
		out = out[:len(out)-1]
	}
	return out
}
