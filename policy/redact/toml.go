package redact

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// entry is a key of a TOML document with its full path. Its value is a string, a list, or a scalar as it is written.
type entry struct {
	line   int
	path   []string
	value  any  // string, []any or scalar
	inside int  // the length of the path of the list of tables that has it; 0: none
	header bool // it begins a table of that list
}

// scalar is a number, a boolean or a date.
type scalar string

// toml reads the part of TOML that configuration files of Cargo use: tables, keys with dots, strings of one line, lists,
// inline tables. Everything else is a fault.
type toml struct {
	text    string
	pos     int
	table   []string
	inside  int // the length of table if it is one of a list, otherwise 0
	lists   [][]string
	entries []entry

	hasLists bool // lists of tables are read
}

func parseTOML(text string) ([]entry, error) { return readTOML(&toml{text: text}) }

// parseTables is parseTOML for documents that may contain lists of tables, but no tables in these.
func parseTables(text string) ([]entry, error) { return readTOML(&toml{text: text, hasLists: true}) }

func readTOML(t *toml) ([]entry, error) {
	t.text = strings.ReplaceAll(t.text, "\r\n", "\n")
	for t.skip(true); t.pos < len(t.text); t.skip(true) {
		if !t.statement() || !t.endOfLine() {
			return nil, lineFault(t.line(), errSyntax)
		}
	}
	return t.entries, nil
}

func (t *toml) line() int { return strings.Count(t.text[:min(t.pos, len(t.text))], "\n") + 1 }

func (t *toml) peek() byte {
	if t.pos < len(t.text) {
		return t.text[t.pos]
	}
	return 0
}

// skip passes blanks, and with lines line ends and comments, too.
func (t *toml) skip(lines bool) {
	for t.pos < len(t.text) {
		switch c := t.text[t.pos]; {
		case c == ' ' || c == '\t', lines && c == '\n':
			t.pos++
		case lines && c == '#':
			t.comment()
		default:
			return
		}
	}
}

func (t *toml) comment() {
	for t.pos < len(t.text) && t.text[t.pos] != '\n' {
		t.pos++
	}
}

func (t *toml) endOfLine() bool {
	t.skip(false)
	if t.peek() == '#' {
		t.comment()
	}
	return t.pos >= len(t.text) || t.text[t.pos] == '\n'
}

func (t *toml) take(c byte) bool {
	if t.peek() != c {
		return false
	}
	t.pos++
	return true
}

// statement reads a table's header, or a key and its value.
func (t *toml) statement() bool {
	if !t.take('[') {
		return t.assignment(t.table)
	}
	isList := t.hasLists && t.take('[')
	line := t.line()
	path, ok := t.key()
	if !ok || !t.take(']') || isList && !t.take(']') {
		return false
	}
	for _, list := range t.lists {
		if isNext := isList && len(path) == len(list); !isNext && len(path) >= len(list) && slices.Equal(path[:len(list)], list) {
			return false
		}
	}
	if t.table, t.inside = path, 0; isList {
		t.inside = len(path)
		t.lists = append(t.lists, path)
		t.entries = append(t.entries, entry{line: line, path: path, inside: t.inside, header: true})
	}
	return true
}

func (t *toml) assignment(table []string) bool {
	path, ok := t.key()
	if !ok || !t.take('=') {
		return false
	}
	path = append(append([]string{}, table...), path...)
	t.skip(false)
	if t.take('{') {
		return t.inline(path)
	}
	line := t.line()
	v, ok := t.value(0)
	t.entries = append(t.entries, entry{line: line, path: path, value: v, inside: t.inside})
	return ok
}

// inline reads the rest of an inline table.
func (t *toml) inline(path []string) bool {
	if len(path) > 32 {
		return false
	}
	if t.skip(false); t.take('}') {
		return true
	}
	for {
		if !t.assignment(path) {
			return false
		}
		if t.skip(false); t.take('}') {
			return true
		}
		if !t.take(',') {
			return false
		}
	}
}

// key reads a.b."c".
func (t *toml) key() (path []string, ok bool) {
	for {
		t.skip(false)
		var name string
		if c := t.peek(); c == '"' || c == '\'' {
			if name, ok = t.quoted(); !ok {
				return nil, false
			}
		} else {
			start := t.pos
			for t.pos < len(t.text) && isBareKey(t.text[t.pos]) {
				t.pos++
			}
			name = t.text[start:t.pos]
		}
		if name == "" || !isPrintable(name) {
			return nil, false
		}
		path = append(path, name)
		if t.skip(false); !t.take('.') {
			return path, true
		}
	}
}

func isBareKey(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (t *toml) value(depth int) (any, bool) {
	switch c := t.peek(); {
	case c == '"' || c == '\'':
		return t.quoted()
	case c == '[' && depth < 8:
		return t.list(depth)
	}
	start := t.pos
	for t.pos < len(t.text) && (isBareKey(t.text[t.pos]) || strings.IndexByte("+.:", t.text[t.pos]) >= 0) {
		t.pos++
	}
	return scalar(t.text[start:t.pos]), t.pos > start && t.pos-start < 40
}

func (t *toml) list(depth int) (any, bool) {
	t.pos++
	list := []any{}
	for {
		if t.skip(true); t.take(']') {
			return list, true
		}
		v, ok := t.value(depth + 1)
		if !ok {
			return nil, false
		}
		list = append(list, v)
		if t.skip(true); !t.take(',') && t.peek() != ']' {
			return nil, false
		}
	}
}

// quoted reads a string of one line.
func (t *toml) quoted() (string, bool) {
	q := t.text[t.pos]
	if strings.HasPrefix(t.text[t.pos:], strings.Repeat(string(q), 3)) {
		return "", false
	}
	t.pos++
	var b strings.Builder
	for ; t.pos < len(t.text) && t.text[t.pos] != '\n'; t.pos++ {
		c := t.text[t.pos]
		switch {
		case c == q:
			t.pos++
			return b.String(), true
		case c == '\\' && q == '"':
			if !t.escape(&b) {
				return "", false
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// escape reads \n, ê and the like, and stops at its last byte.
func (t *toml) escape(b *strings.Builder) bool {
	t.pos++
	if i := strings.IndexByte(`btnfr"\`, t.peek()); i >= 0 && t.peek() != 0 {
		b.WriteByte("\b\t\n\f\r\"\\"[i])
		return true
	}
	digits := map[byte]int{'u': 4, 'U': 8}[t.peek()]
	if digits == 0 || t.pos+digits >= len(t.text) {
		return false
	}
	n, err := strconv.ParseUint(t.text[t.pos+1:t.pos+1+digits], 16, 32)
	if err != nil || n > 0x10ffff {
		return false
	}
	b.WriteRune(rune(n))
	t.pos += digits
	return true
}

// quoteTOML quotes the inside of a basic string: JSON's escapes are a part of TOML's.
func quoteTOML(s string) string {
	data, _ := json.Marshal(s) // a string always can be marshaled
	return string(data[1 : len(data)-1])
}

// keyTOML writes a path of keys.
func keyTOML(path []string) string {
	out := make([]string, len(path))
	for i, p := range path {
		out[i] = `"` + quoteTOML(p) + `"`
	}
	return strings.Join(out, ".")
}
