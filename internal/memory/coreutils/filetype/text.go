package filetype

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// textEncoding is a character encoding.
type textEncoding struct {
	name    string // "" for data that is not text
	charset string
	bom     int  // bytes before the text
	wide    bool // UTF-16 or UTF-32
	big     bool // with the high byte first
}

// classes of bytes, as in what text is made of.
const (
	byteNever    = iota // in no text
	byteASCII           // in plain text
	byteLatin           // in ISO 8859
	byteExtended        // in other 8-bit sets
)

func textClass(c byte) int {
	switch {
	case c >= 0xa0:
		return byteLatin
	case c == 0x85:
		return byteASCII
	case c >= 0x80:
		return byteExtended
	case c >= 7 && c <= 13, c == 27, c >= ' ' && c < 0x7f:
		return byteASCII
	}
	return byteNever
}

// readEncoding finds the first encoding that fits.
func readEncoding(b []byte) textEncoding {
	worst := [4]bool{}
	for _, c := range b {
		worst[textClass(c)] = true
	}
	plain := !worst[byteNever] && !worst[byteLatin] && !worst[byteExtended]
	switch {
	case plain:
		return textEncoding{name: "ASCII", charset: "us-ascii"}
	case len(b) > 3 && strings.HasPrefix(string(b[:3]), "\xef\xbb\xbf") && utf8Text(b[3:]) != 0:
		return textEncoding{name: "Unicode text, UTF-8 (with BOM)", charset: "utf-8", bom: 3}
	case utf8Text(b) == 2:
		return textEncoding{name: "Unicode text, UTF-8", charset: "utf-8"}
	case strings.HasPrefix(string(b[:min(4, len(b))]), "\xff\xfe\x00\x00"):
		return textEncoding{charset: "utf-32le"}
	case strings.HasPrefix(string(b[:min(4, len(b))]), "\x00\x00\xfe\xff"):
		return textEncoding{charset: "utf-32be"}
	}
	if t, ok := wideText(b); ok {
		return t
	}
	switch {
	case !worst[byteNever] && !worst[byteExtended]:
		return textEncoding{name: "ISO-8859", charset: "iso-8859-1"}
	case !worst[byteNever]:
		return textEncoding{name: "Non-ISO extended-ASCII", charset: "unknown-8bit"}
	}
	return textEncoding{charset: binaryData}
}

// utf8Text returns 0 for text that is not UTF-8, 2 when it holds more than ASCII, otherwise 1. The
// last character may be cut.
func utf8Text(b []byte) int {
	kind := 1
	for len(b) > 0 {
		if b[0] < utf8.RuneSelf {
			if textClass(b[0]) != byteASCII {
				return 0
			}
			b = b[1:]
			continue
		}
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			if !utf8.FullRune(b) {
				return kind
			}
			return 0
		}
		kind = 2
		b = b[n:]
	}
	return kind
}

// wideText knows UTF-16 by its mark.
func wideText(b []byte) (textEncoding, bool) {
	if len(b) < 2 {
		return textEncoding{}, false
	}
	t := textEncoding{name: "Unicode text, UTF-16, little-endian", charset: "utf-16le", bom: 2, wide: true}
	switch {
	case b[0] == 0xff && b[1] == 0xfe:
	case b[0] == 0xfe && b[1] == 0xff:
		t.name, t.charset, t.big = "Unicode text, UTF-16, big-endian", "utf-16be", true
	default:
		return textEncoding{}, false
	}
	for i := 2; i+1 < len(b); i += 2 {
		c := t.unit(b[i:])
		if c == 0xfffe || c < 128 && textClass(byte(c)) != byteASCII {
			return textEncoding{}, false
		}
	}
	return t, true
}

func (t textEncoding) unit(b []byte) uint16 {
	if t.big {
		return uint16(b[0])<<8 | uint16(b[1])
	}
	return uint16(b[1])<<8 | uint16(b[0])
}

// decoded returns the text in UTF-8, or in its own bytes when each of those is a character.
func (t textEncoding) decoded(b []byte) string {
	b = b[min(t.bom, len(b)):]
	if !t.wide {
		return string(b)
	}
	units := make([]uint16, 0, len(b)/2)
	for ; len(b) > 1; b = b[2:] {
		units = append(units, t.unit(b))
	}
	return string(utf16.Decode(units))
}

// describe returns the description of a text: what, if known, then the encoding and unusual properties
// about its lines. whole reports whether the text is complete.
func (t textEncoding) describe(text, what string, whole bool) string {
	executable := false
	switch {
	case what == "":
	case strings.HasSuffix(what, " text executable"):
		what, executable = strings.TrimSuffix(what, " text executable")+", ", true
	case strings.HasSuffix(what, " text"):
		what = strings.TrimSuffix(what, " text") + ", "
	default:
		what += ", "
	}
	s := what + t.name + " text"
	if executable {
		s += " executable"
	}
	l := readLines(text, t.charset == "utf-8" || t.wide, whole)
	if l.longest > 0 {
		s += ", with very long lines (" + strconv.Itoa(l.longest) + ")"
	}
	s += l.ends()
	if l.escapes {
		s += ", with escape sequences"
	}
	if l.backspaces {
		s += ", with overstriking"
	}
	return s
}

// textLines describes unusual lines and line ends.
type textLines struct {
	crlf, cr, lf, nel   bool
	longest             int // 0 unless a line is very long
	escapes, backspaces bool
}

// veryLong is the length that lines seldom have.
const veryLong = 300

func readLines(text string, runes, whole bool) textLines {
	var l textLines
	length, afterCR := 0, false
	end := func() {
		l.longest = max(l.longest, length)
		length = 0
	}
	step := func(r rune) {
		if afterCR && r != '\n' {
			l.cr = true
		}
		switch r {
		case '\n':
			if afterCR {
				l.crlf = true
			} else {
				l.lf = true
			}
			end()
		case 0x85:
			l.nel = true
			end()
		case '\r':
			end()
		case '\x1b':
			l.escapes = true
			length++
		case '\b':
			l.backspaces = true
			length++
		default:
			length++
		}
		afterCR = r == '\r'
	}
	if runes {
		for _, r := range text {
			step(r)
		}
	} else {
		for i := range len(text) {
			step(rune(text[i]))
		}
	}
	if afterCR && whole {
		l.cr = true
	}
	end()
	if l.longest <= veryLong {
		l.longest = 0
	}
	return l
}

// ends describes the line ends, unless they are the usual ones.
func (l textLines) ends() string {
	var kinds []string
	for _, k := range []struct {
		is   bool
		name string
	}{{l.crlf, "CRLF"}, {l.cr, "CR"}, {l.lf, "LF"}, {l.nel, "NEL"}} {
		if k.is {
			kinds = append(kinds, k.name)
		}
	}
	switch {
	case len(kinds) == 0:
		return ", with no line terminators"
	case len(kinds) == 1 && l.lf:
		return ""
	}
	return ", with " + strings.Join(kinds, ", ") + " line terminators"
}
