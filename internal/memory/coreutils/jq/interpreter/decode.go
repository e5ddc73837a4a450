package interpreter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxParseDepth is the deepest nesting of values that is read.
const maxParseDepth = 10000

// Decoder reads values from a stream of JSON texts. Its errors say where, in jq's words.
type Decoder struct {
	r      io.Reader
	buf    []byte
	at, n  int
	eof    bool
	failed error
	err    error // of reading

	line, column int     // of the text that was read
	lines        int     // newlines that were read
	stack        []*open // bounded: the reader charges for each byte, maxParseDepth
	next         Value
	hasNext      bool
	token        []byte // bounded: the reader charges for each byte
	state        decodeState
	seq          bool
	stream       *streamer
}

type decodeState uint8

const (
	inText decodeState = iota
	inString
	inEscape
)

// open is an array or object whose end was not read yet.
type open struct {
	array  *Array
	object *Object
	key    string
	hasKey bool
}

// NewDecoder returns a decoder of r.
func NewDecoder(r io.Reader) *Decoder { return &Decoder{r: r, line: 1} }

// ParseError is text that is not JSON.
type ParseError struct{ Text string }

func (e *ParseError) Error() string { return e.Text }

// Lines returns how many whole lines were begun to get the last value.
func (d *Decoder) Lines() int {
	if d.column > 0 && bytes.IndexByte(d.buf[d.at:d.n], '\n') >= 0 {
		return d.lines + 1
	}
	return d.lines
}

// fill reads up to the end of a line, as jq does: how far it has read shows in messages.
func (d *Decoder) fill() bool {
	if d.eof {
		return false
	}
	if d.buf == nil {
		d.buf = make([]byte, 64<<10)
	}
	for {
		n, err := d.r.Read(d.buf)
		d.at, d.n = 0, n
		if err != nil {
			d.eof = true
			if !errors.Is(err, io.EOF) {
				d.err = err
				return n > 0
			}
		}
		if n > 0 || d.eof {
			return n > 0
		}
	}
}

// Next returns the next value; io.EOF at the end, a *ParseError, or the error of the reader.
func (d *Decoder) Next() (Value, error) {
	if d.failed != nil {
		return nil, d.failed
	}
	for {
		if d.stream != nil {
			if v, ok := d.stream.take(); ok {
				return d.charged(v)
			}
		}
		if d.at == d.n && !d.fill() {
			return d.end()
		}
		for d.at < d.n {
			c := d.buf[d.at]
			d.at++
			d.column++
			if c == '\n' {
				d.line++
				d.column = 0
				d.lines++
			}
			done, msg := d.char(c)
			if msg != "" {
				d.failed = &ParseError{fmt.Sprintf("%s at line %d, column %d", msg, d.line, d.column)}
				return nil, d.failed
			}
			if done {
				v := d.next
				d.next, d.hasNext = nil, false
				return v, nil
			}
			if d.stream != nil && len(d.stream.out) > 0 {
				break
			}
		}
	}
}

func (d *Decoder) end() (Value, error) {
	if d.err != nil {
		d.failed = d.err
		return nil, d.err
	}
	fail := func(msg string) (Value, error) {
		d.failed = &ParseError{fmt.Sprintf("%s at EOF at line %d, column %d", msg, d.line, d.column)}
		return nil, d.failed
	}
	if d.state != inText {
		return fail("Unfinished string")
	}
	if msg := d.literal(); msg != "" {
		return fail(msg)
	}
	if len(d.stack) > 0 || d.stream != nil && d.stream.open() {
		return fail("Unfinished JSON term")
	}
	if d.stream != nil {
		if v, ok := d.stream.take(); ok {
			return d.charged(v)
		}
	}
	d.failed = io.EOF
	if d.hasNext {
		d.hasNext = false
		return d.next, nil
	}
	return nil, io.EOF
}

// char takes one byte; done reports that a value at the top is complete.
func (d *Decoder) char(c byte) (done bool, msg string) {
	if d.state != inText {
		return d.stringChar(c)
	}
	switch c {
	case ' ', '\t', '\r', '\n':
		if len(d.token) > 0 {
			if msg := d.literal(); msg != "" {
				return false, msg
			}
		}
	case '[', ']', '{', '}', ',', ':':
		if msg := d.literal(); msg != "" {
			return false, msg
		}
		if d.complete() && (c == '[' || c == '{') {
			// The value before ends here; what begins now is the next one's.
			d.at--
			d.column--
			return true, ""
		}
		if msg := d.structure(c); msg != "" {
			return false, msg
		}
	case '"':
		if msg := d.literal(); msg != "" {
			return false, msg
		}
		if d.complete() {
			d.at--
			d.column--
			return true, ""
		}
		d.state = inString
	case 0x1e:
		if d.seq {
			if msg := d.literal(); msg != "" {
				return false, msg
			}
			return d.complete(), ""
		}
		d.token = append(d.token, c)
	case 0xef, 0xbb, 0xbf:
		// A mark of the byte order at the very beginning is passed over.
		if d.line == 1 && d.column <= 3 && len(d.token) == 0 && len(d.stack) == 0 {
			d.column--
			return false, ""
		}
		d.token = append(d.token, c)
	default:
		d.token = append(d.token, c)
	}
	return d.complete(), ""
}

func (d *Decoder) complete() bool { return d.hasNext && len(d.stack) == 0 }

func (d *Decoder) stringChar(c byte) (bool, string) {
	if c == '"' && d.state == inString {
		s, msg := unquote(d.token)
		d.token = d.token[:0]
		if msg != "" {
			return false, msg
		}
		d.state = inText
		msg = d.value(s)
		return d.complete(), msg
	}
	d.token = append(d.token, c)
	if c == '\\' && d.state == inString {
		d.state = inEscape
	} else {
		d.state = inString
	}
	if len(d.token) > maxString {
		return false, "String too long"
	}
	return false, ""
}

// value takes a value that was read.
func (d *Decoder) value(v Value) string {
	if d.stream != nil {
		return d.stream.value(v)
	}
	if d.hasNext {
		return "Expected separator between values"
	}
	d.next, d.hasNext = v, true
	return ""
}

// literal takes the text before a separator as null, true, false or a number.
func (d *Decoder) literal() string {
	if len(d.token) == 0 {
		return ""
	}
	s := string(d.token)
	d.token = d.token[:0]
	switch s {
	case "null":
		return d.value(nil)
	case "true":
		return d.value(true)
	case "false":
		return d.value(false)
	}
	switch s[0] {
	case 't', 'f', 'n':
		if s != "nan" {
			return "Invalid literal"
		}
	}
	v, ok := parseNumber(s)
	if !ok {
		return "Invalid numeric literal"
	}
	return d.value(v)
}

func (d *Decoder) structure(c byte) string {
	if d.stream != nil {
		return d.stream.structure(c)
	}
	switch c {
	case '[', '{':
		return d.opening(c)
	case ':':
		return d.colon()
	case ',':
		return d.comma()
	}
	return d.closing(c)
}

func (d *Decoder) top() *open {
	if len(d.stack) == 0 {
		return nil
	}
	return d.stack[len(d.stack)-1]
}

func (d *Decoder) opening(c byte) string {
	if len(d.stack) >= maxParseDepth {
		return "Exceeds depth limit for parsing"
	}
	if d.hasNext {
		return "Expected separator between values"
	}
	o := &open{}
	if c == '[' {
		o.array = &Array{}
	} else {
		o.object = &Object{}
	}
	d.stack = append(d.stack, o)
	return ""
}

func (d *Decoder) colon() string {
	t := d.top()
	switch {
	case !d.hasNext:
		return "Expected string key before ':'"
	case t == nil || t.object == nil || t.hasKey:
		return "':' not as part of an object"
	}
	key, ok := d.next.(string)
	if !ok {
		return "Object keys must be strings"
	}
	t.key, t.hasKey = key, true
	d.next, d.hasNext = nil, false
	return ""
}

// store puts the value that was read into the array or object.
func (d *Decoder) store(t *open) {
	if t.array != nil {
		t.array.v = append(t.array.v, d.next) // bounded: the reader charges for each byte
	} else {
		t.object.put(t.key, d.next)
		t.hasKey = false
	}
	d.next, d.hasNext = nil, false
}

func (d *Decoder) comma() string {
	t := d.top()
	switch {
	case !d.hasNext:
		return "Expected value before ','"
	case t == nil:
		return "',' not as part of an object or array"
	case t.object != nil && !t.hasKey:
		return "Objects must consist of key:value pairs"
	}
	d.store(t)
	return ""
}

func (d *Decoder) closing(c byte) string {
	t := d.top()
	if t == nil {
		return "Unmatched '" + string(c) + "'"
	}
	if c == ']' {
		switch {
		case t.array == nil:
			return "Unmatched ']'"
		case d.hasNext:
			d.store(t)
		case len(t.array.v) > 0:
			return "Expected another array element"
		}
		d.stack = d.stack[:len(d.stack)-1]
		d.next, d.hasNext = t.array, true
		return ""
	}
	switch {
	case t.object == nil:
		return "Unmatched '}'"
	case d.hasNext && !t.hasKey:
		return "Objects must consist of key:value pairs"
	case d.hasNext:
		d.store(t)
	case t.hasKey:
		return "Unmatched '}'"
	case len(t.object.keys) > 0:
		return "Expected another key-value pair"
	}
	d.stack = d.stack[:len(d.stack)-1]
	d.next, d.hasNext = t.object, true
	return ""
}

// unquote replaces the escapes of a string; bytes that are not UTF-8 become U+FFFD.
func unquote(b []byte) (string, string) {
	simple := true
	for _, c := range b {
		if c == '\\' || c >= utf8.RuneSelf {
			simple = false
			break
		}
	}
	if simple {
		return string(b), ""
	}
	var out strings.Builder
	out.Grow(len(b))
	for i := 0; i < len(b); {
		if b[i] != '\\' {
			if b[i] < utf8.RuneSelf {
				out.WriteByte(b[i])
				i++
				continue
			}
			r, size := utf8.DecodeRune(b[i:])
			out.WriteRune(r)
			i += size
			continue
		}
		if i++; i == len(b) {
			return "", "Expected escape character at end of string"
		}
		c := b[i]
		i++
		if k := strings.IndexByte(`"\/bfnrt`, c); k >= 0 {
			out.WriteByte("\"\\/\b\f\n\r\t"[k])
			continue
		}
		if c != 'u' {
			return "", "Invalid escape"
		}
		r, n := hex4(b[i:])
		if n == 0 {
			return "", `Invalid \uXXXX escape`
		}
		i += n
		if utf16.IsSurrogate(r) {
			low, m := rune(0), 0
			if i+1 < len(b) && b[i] == '\\' && b[i+1] == 'u' {
				low, m = hex4(b[i+2:])
			}
			if r < 0xdc00 && m > 0 && low >= 0xdc00 && low < 0xe000 {
				r = utf16.DecodeRune(r, low)
				i += m + 2
			} else {
				r = utf8.RuneError
			}
		}
		out.WriteRune(r)
	}
	return out.String(), ""
}

func hex4(b []byte) (rune, int) {
	if len(b) < 4 {
		return 0, 0
	}
	var r rune
	for _, c := range b[:4] {
		k := strings.IndexByte("0123456789abcdef", c|0x20)
		if k < 0 || c < '0' {
			return 0, 0
		}
		r = r<<4 | rune(k)
	}
	return r, 4
}

// parseJSON reads text that has to be one value.
func parseJSON(s string) (Value, error) {
	d := NewDecoder(strings.NewReader(s))
	v, err := d.Next()
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err != nil {
		return nil, err
	}
	if _, err := d.Next(); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, err
		}
		return nil, &ParseError{"Unexpected extra JSON values"}
	}
	return v, nil
}

// ParseJSON reads text that has to be one value; false when it is not.
func ParseJSON(s string) (Value, bool) {
	v, err := parseJSON(s)
	return v, err == nil
}

// Stream makes the decoder return events instead of values: [path, leaf], and [path] when
// an array or object ends.
func (d *Decoder) Stream(charge func(n int) error) { d.stream = &streamer{charge: charge} }

// charged returns an event after it has charged for its path, which may be much longer than the text of a value.
func (d *Decoder) charged(event *Array) (Value, error) {
	path, _ := event.v[0].(*Array)
	if err := d.stream.charge(64 + 16*len(path.v)); err != nil {
		d.failed = err
		return nil, err
	}
	return event, nil
}

// Sequence says whether records begin with the separator of RFC 7464.
func (d *Decoder) Sequence(on bool) { d.seq = on }
