package interpreter

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Style says how values are written.
type Style struct {
	Indent   int // blanks for each level; 0 with Tab false: all on one line
	Tab      bool
	ASCII    bool
	SortKeys bool
	Colors   *Colors // nil: none
}

// Colors are the escape sequences for each kind of value, without ESC [ and m.
type Colors struct {
	Null, False, True, Number, String, Array, Object, Key string
}

// DefaultColors are jq 1.7's.
func DefaultColors() *Colors {
	return &Colors{"1;30", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39", "34;1"}
}

// maxPrintDepth is the deepest nesting of values that is written.
const maxPrintDepth = 10001

// encoder writes values as JSON.
type encoder struct {
	b     []byte // bounded: part takes a piece of encodePart bytes, or charges for the text; the text of a scalar is as long as six times its value
	style Style
	part  func(text []byte) ([]byte, error)
	err   error
}

// encodePart is the number of bytes written between calls of part.
const encodePart = 4 << 10

// Encode writes v as JSON. Values share their parts, so that the text of a small value may be endless. Encode therefore calls
// part with each piece of the text, and with the last one. part returns the buffer to continue with, or an error, which ends
// Encode.
func (s Style) Encode(v Value, part func(text []byte) ([]byte, error)) error {
	e := &encoder{style: s, part: part}
	e.any(v)
	if e.err == nil {
		_, e.err = part(e.b)
	}
	return e.err
}

func (e *encoder) any(v Value) {
	if e.style.Colors != nil {
		e.colored(v, 0)
	} else {
		e.value(v, 0)
	}
}

// goOn passes a full piece to part, and reports whether the encoder may continue.
func (e *encoder) goOn() bool {
	if e.err == nil && e.part != nil && len(e.b) >= encodePart {
		e.b, e.err = e.part(e.b)
	}
	return e.err == nil
}

// toJSON is the text of a scalar.
func toJSON(v Value) string {
	e := &encoder{}
	e.scalar(v)
	return string(e.b)
}

// ScalarText returns the text of a value that is not an array or an object.
func ScalarText(v Value) string { return toJSON(v) }

// json is the text of v on one line, which takes fuel and memory.
func (vm *machine) json(v Value) (string, error) {
	charged := 0
	var text []byte
	err := Style{}.Encode(v, func(b []byte) ([]byte, error) {
		if len(b) > maxString {
			return nil, errTooBig
		}
		if err := vm.hold(len(b) - charged); err != nil {
			return nil, err
		}
		charged, text = len(b), b
		return b, vm.tick()
	})
	return string(text), err
}

// shortJSON is the text of v cut for a message.
func shortJSON(v Value) string { return cutJSON(v, 14) }

// cutJSON is the text of v cut to limit bytes.
func cutJSON(v Value, limit int) string {
	e := &encoder{part: func(b []byte) ([]byte, error) {
		if len(b) > limit {
			return b, errTooBig
		}
		return b, nil
	}}
	e.value(v, 0)
	s := string(e.b)
	if len(s) <= limit {
		return s
	}
	cut := limit - 3
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}

func (e *encoder) pretty() bool { return e.style.Tab || e.style.Indent > 0 }

func (e *encoder) newline(depth int) {
	if !e.pretty() {
		return
	}
	e.b = append(e.b, '\n')
	if e.style.Tab {
		e.b = append(e.b, bytes.Repeat([]byte{'\t'}, depth)...) // bounded: maxPrintDepth
		return
	}
	for range depth * e.style.Indent {
		e.b = append(e.b, ' ')
	}
}

func (e *encoder) scalar(v Value) bool {
	switch v := v.(type) {
	case nil:
		e.b = append(e.b, "null"...)
	case bool:
		e.b = strconv.AppendBool(e.b, v)
	case float64:
		e.b = append(e.b, formatNumber(v)...)
	case *Number:
		e.b = append(e.b, v.Text...)
	case string:
		e.string(v)
	default:
		return false
	}
	return true
}

func (e *encoder) value(v Value, depth int) {
	if !e.goOn() || e.scalar(v) {
		return
	}
	if depth > maxPrintDepth {
		e.b = append(e.b, "<skipped: too deep>"...)
		return
	}
	switch v := v.(type) {
	case *Array:
		if len(v.v) == 0 {
			e.b = append(e.b, "[]"...)
			return
		}
		e.b = append(e.b, '[')
		for i, item := range v.v {
			if e.err != nil {
				return
			}
			if i > 0 {
				e.b = append(e.b, ',')
			}
			e.newline(depth + 1)
			e.value(item, depth+1)
		}
		e.newline(depth)
		e.b = append(e.b, ']')
	case *Object:
		e.object(v, depth)
	}
}

func (e *encoder) keys(o *Object) []string {
	if e.style.SortKeys {
		return o.sorted()
	}
	return o.keys
}

func (e *encoder) object(o *Object, depth int) {
	if len(o.keys) == 0 {
		e.b = append(e.b, "{}"...)
		return
	}
	e.b = append(e.b, '{')
	for i, k := range e.keys(o) {
		if !e.goOn() {
			return
		}
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.newline(depth + 1)
		e.string(k)
		e.b = append(e.b, ':')
		if e.pretty() {
			e.b = append(e.b, ' ')
		}
		v := o.vals[i]
		if e.style.SortKeys {
			v, _ = o.Get(k)
		}
		e.value(v, depth+1)
	}
	e.newline(depth)
	e.b = append(e.b, '}')
}

const hexDigits = "0123456789abcdef"

func (e *encoder) string(s string) {
	e.b = append(e.b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < 0x7f {
			i++
			continue
		}
		size := 1
		var r rune
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
			if !e.style.ASCII && (r != utf8.RuneError || size > 1) {
				i += size
				continue
			}
		} else {
			r = rune(c)
		}
		e.b = append(e.b, s[start:i]...)
		e.escape(r)
		i += size
		start = i
	}
	e.b = append(append(e.b, s[start:]...), '"')
}

func (e *encoder) escape(r rune) {
	switch r {
	case '"', '\\':
		e.b = append(e.b, '\\', byte(r))
	case '\b', '\f', '\n', '\r', '\t':
		e.b = append(e.b, '\\', map[rune]byte{'\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}[r])
	default:
		switch {
		case r > 0xffff:
			r -= 0x10000
			e.unicode(0xd800 + r>>10)
			e.unicode(0xdc00 + r&0x3ff)
		case r == utf8.RuneError && !e.style.ASCII:
			e.b = utf8.AppendRune(e.b, r)
		default:
			e.unicode(r)
		}
	}
}

func (e *encoder) unicode(r rune) {
	e.b = append(e.b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// colored writes with colours: brackets and commas have that of their array or object.
func (e *encoder) colored(v Value, depth int) {
	if !e.goOn() {
		return
	}
	if depth > maxPrintDepth {
		e.b = append(e.b, "<skipped: too deep>"...)
		return
	}
	c := e.style.Colors
	start := func(color string) { e.b = append(append(append(e.b, "\x1b["...), color...), 'm') }
	end := func() { e.b = append(e.b, "\x1b[0m"...) }
	switch v := v.(type) {
	case *Array:
		start(c.Array)
		e.b = append(e.b, '[')
		if len(v.v) == 0 {
			e.b = append(e.b, ']')
			end()
			return
		}
		for i, item := range v.v {
			if e.err != nil {
				return
			}
			if i > 0 {
				start(c.Array)
				e.b = append(e.b, ',')
			}
			e.newline(depth + 1)
			end()
			e.colored(item, depth+1)
		}
		start(c.Array)
		e.newline(depth)
		start(c.Array)
		e.b = append(e.b, ']')
		end()
	case *Object:
		e.coloredObject(v, depth, start, end)
	default:
		color := c.Null
		switch v := v.(type) {
		case bool:
			if color = c.False; v {
				color = c.True
			}
		case float64, *Number:
			color = c.Number
		case string:
			color = c.String
		}
		start(color)
		e.scalar(v)
		end()
	}
}

func (e *encoder) coloredObject(v *Object, depth int, start func(string), end func()) {
	c := e.style.Colors
	start(c.Object)
	e.b = append(e.b, '{')
	if len(v.keys) == 0 {
		e.b = append(e.b, '}')
		end()
		return
	}
	e.newline(depth + 1)
	for i, k := range e.keys(v) {
		if !e.goOn() {
			return
		}
		if i > 0 {
			start(c.Object)
			e.b = append(e.b, ',')
			e.newline(depth + 1)
		}
		end()
		start(c.Key)
		e.string(k)
		end()
		start(c.Object)
		e.b = append(e.b, ':')
		if e.pretty() {
			e.b = append(e.b, ' ')
		}
		end()
		item, _ := v.Get(k)
		e.colored(item, depth+1)
	}
	start(c.Object)
	e.newline(depth)
	start(c.Object)
	e.b = append(e.b, '}')
	end()
}
