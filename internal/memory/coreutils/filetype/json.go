package filetype

import (
	"bytes"
	"strings"
)

// jsonKind returns 1 for a JSON text that is an object or a list, 2 for several, and 0 for what
// is none. When the text is not the whole file, its end may be missing.
func jsonKind(b []byte, whole bool) int {
	j := jsonScan{b: b}
	j.space()
	if j.i == len(b) || b[j.i] != '{' && b[j.i] != '[' {
		return 0
	}
	n := 0
	for j.space(); j.i < len(b); j.space() {
		if !j.value(0) {
			if j.i >= len(b) && !whole {
				return min(n+1, 2)
			}
			return 0
		}
		n++
	}
	return min(n, 2)
}

// jsonScan walks over JSON as file(1) does, which takes a comma before the end of a list.
type jsonScan struct {
	b []byte
	i int
}

// jsonDepth bounds how deep values are nested.
const jsonDepth = 500

func (j *jsonScan) space() {
	for j.i < len(j.b) && strings.IndexByte(" \t\n\r", j.b[j.i]) >= 0 {
		j.i++
	}
}

func (j *jsonScan) value(depth int) bool {
	j.space()
	if j.i >= len(j.b) || depth > jsonDepth {
		return false
	}
	switch c := j.b[j.i]; c {
	case '{':
		return j.members(depth, '}')
	case '[':
		return j.members(depth, ']')
	case '"':
		return j.text()
	case 't':
		return j.word("true")
	case 'f':
		return j.word("false")
	case 'n':
		return j.word("null")
	default:
		return (c == '-' || c >= '0' && c <= '9') && j.number()
	}
}

// members reads the text in braces or brackets.
func (j *jsonScan) members(depth int, end byte) bool {
	j.i++
	for { // bounded: each round passes over text of the buffer
		j.space()
		if j.i >= len(j.b) {
			return false
		}
		if j.b[j.i] == end {
			j.i++
			return true
		}
		if end == '}' {
			if j.b[j.i] != '"' || !j.text() {
				return false
			}
			j.space()
			if j.i >= len(j.b) || j.b[j.i] != ':' {
				return false
			}
			j.i++
		}
		if !j.value(depth + 1) {
			return false
		}
		j.space()
		if j.i >= len(j.b) {
			return false
		}
		switch j.b[j.i] {
		case ',':
			j.i++
		case end:
		default:
			return false
		}
	}
}

func (j *jsonScan) text() bool {
	for j.i++; j.i < len(j.b); j.i++ {
		switch j.b[j.i] {
		case 0:
			return false
		case '\\':
			j.i++
		case '"':
			j.i++
			return true
		}
	}
	return false
}

func (j *jsonScan) word(w string) bool {
	if !bytes.HasPrefix(j.b[j.i:], []byte(w)) {
		return false
	}
	j.i += len(w)
	return true
}

func (j *jsonScan) number() bool {
	if j.b[j.i] == '-' {
		j.i++
	}
	digits := j.digits()
	if j.i < len(j.b) && j.b[j.i] == '.' {
		j.i++
		digits = j.digits() || digits
	}
	if digits && j.i < len(j.b) && (j.b[j.i] == 'e' || j.b[j.i] == 'E') {
		j.i++
		if j.i < len(j.b) && (j.b[j.i] == '+' || j.b[j.i] == '-') {
			j.i++
		}
		return j.digits()
	}
	return digits
}

func (j *jsonScan) digits() bool {
	start := j.i
	for j.i < len(j.b) && j.b[j.i] >= '0' && j.b[j.i] <= '9' {
		j.i++
	}
	return j.i > start
}

// csvLines is the number of lines of a table that are examined.
const csvLines = 10

// isCSV reports whether there are lines, more than two, that have the same number of fields.
func isCSV(b []byte) bool {
	first, fields, lines := 0, 0, 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			if i = closingQuote(b, i+1); i < 0 {
				return false
			}
		case ',':
			fields++
		case '\n':
			lines++
			if lines == csvLines {
				return first > 0 && first == fields
			}
			if first == 0 {
				if fields == 0 {
					return false
				}
				first = fields
			} else if first != fields {
				return false
			}
			fields = 0
		}
	}
	return first > 0 && lines > 2
}

// closingQuote returns where quoted text ends; two quotes are one.
func closingQuote(b []byte, i int) int {
	for ; i < len(b); i++ {
		if b[i] != '"' {
			continue
		}
		if i+1 < len(b) && b[i+1] == '"' {
			i++
			continue
		}
		return i
	}
	return -1
}
