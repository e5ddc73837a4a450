package charset

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// charset is an encoding of characters.
type charset struct {
	names []string
	// decoder returns a function that reads a character at the beginning of b and returns it with its length. The length is 0 for
	// an incomplete character; a character below 0 stands for bytes to skip.
	decoder func() func(b []byte) (r rune, n int)
	// encoder returns a function that appends a character, if the encoding has it.
	encoder func() func(b []byte, r rune) ([]byte, bool)
}

const (
	// noRune stands for input that is not a character, such as a byte order mark.
	noRune = rune(0x7fffffff)
	// wrongRune stands for bytes that are not a character.
	wrongRune = rune(-1)
)

// findCharset returns the encoding of a name, in any case.
func findCharset(name string) (charset, bool) {
	name = strings.ToUpper(strings.TrimSuffix(strings.ReplaceAll(name, " ", ""), "/"))
	for _, c := range charsets() {
		if slices.Contains(c.names, name) {
			return c, true
		}
	}
	return charset{}, false
}

// listCharsets writes the names, as a program reads them.
func listCharsets(p *shell.Proc) int {
	out := program.NewOutput(p)
	var names []string
	for _, c := range charsets() {
		names = append(names, c.names...)
	}
	slices.Sort(names)
	for _, name := range names {
		_, _ = out.WriteString(name + "//\n")
	}
	return out.Close(0)
}

// charsets returns the encodings that are known.
func charsets() []charset {
	little, big := binary.ByteOrder(binary.LittleEndian), binary.ByteOrder(binary.BigEndian)
	return append([]charset{
		{charsetNames("UTF-8 UTF8 ISO-IR-193 ISO-10646/UTF8 ISO-10646/UTF-8"), plain(decodeUTF8), plainEncoder(encodeUTF8)},
		{charsetNames("ASCII US-ASCII ANSI_X3.4-1968 ANSI_X3.4-1986 ANSI_X3.4 CP367 IBM367 ISO-IR-6 ISO646-US ISO_646.IRV:1991 US CSASCII"), plain(decodeASCII), plainEncoder(encodeASCII)},
		wideCharset("UTF-16 UTF16", 2, little, true, true),
		wideCharset("UTF-16LE UTF16LE", 2, little, false, true),
		wideCharset("UTF-16BE UTF16BE", 2, big, false, true),
		wideCharset("UNICODE CSUNICODE", 2, little, true, false),
		wideCharset("UCS-2 UCS2 UCS-2LE UNICODELITTLE ISO-10646/UCS2", 2, little, false, false),
		wideCharset("UCS-2BE UNICODEBIG", 2, big, false, false),
		wideCharset("UTF-32 UTF32", 4, little, true, false),
		wideCharset("UTF-32LE UTF32LE UCS-4LE WCHAR_T", 4, little, false, false),
		wideCharset("UTF-32BE UTF32BE UCS-4 UCS4 UCS-4BE ISO-10646/UCS4 CSUCS4", 4, big, false, false),
	}, bytewise()...)
}

func charsetNames(s string) []string { return strings.Fields(s) } // bounded: by the names in this file

func plain(f func(b []byte) (rune, int)) func() func(b []byte) (rune, int) {
	return func() func(b []byte) (rune, int) { return f }
}

func plainEncoder(f func(b []byte, r rune) ([]byte, bool)) func() func(b []byte, r rune) ([]byte, bool) {
	return func() func(b []byte, r rune) ([]byte, bool) { return f }
}

func decodeUTF8(b []byte) (rune, int) {
	if b[0] < utf8.RuneSelf {
		return rune(b[0]), 1
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		if !utf8.FullRune(b) {
			return 0, 0
		}
		return wrongRune, 1
	}
	return r, n
}

func encodeUTF8(b []byte, r rune) ([]byte, bool) { return utf8.AppendRune(b, r), true }

func decodeASCII(b []byte) (rune, int) {
	if b[0] >= utf8.RuneSelf {
		return wrongRune, 1
	}
	return rune(b[0]), 1
}

func encodeASCII(b []byte, r rune) ([]byte, bool) {
	if r >= utf8.RuneSelf {
		return b, false
	}
	return append(b, byte(r)), true
}

// byteOrderMark precedes text that may have either byte order.
const byteOrderMark = 0xfeff

// wideCharset is an encoding in units of 2 or 4 bytes. With a mark, the one at the beginning of the input tells the
// order, and one is written; with pairs, two units make a character that does not fit into one.
func wideCharset(list string, size int, order binary.ByteOrder, mark, pairs bool) charset {
	return charset{
		names: charsetNames(list),
		decoder: func() func(b []byte) (rune, int) {
			u := &wideUnits{size: size, order: order, pairs: pairs, fresh: mark}
			return u.decode
		},
		encoder: func() func(b []byte, r rune) ([]byte, bool) {
			u := &wideUnits{size: size, order: order, pairs: pairs, fresh: mark}
			return u.encode
		},
	}
}

// wideUnits reads or writes characters of a wide encoding.
type wideUnits struct {
	size  int
	order binary.ByteOrder
	pairs bool
	fresh bool // a mark may be read, or is to be written
}

func (u *wideUnits) decode(b []byte) (rune, int) {
	if len(b) < u.size {
		return 0, 0
	}
	r := u.unit(b)
	if u.fresh {
		u.fresh = false
		swapped := u.size == 2 && r == 0xfffe || u.size == 4 && r == 0xfffe0000
		if swapped {
			u.order = binary.BigEndian
		}
		if swapped || r == byteOrderMark {
			return noRune, u.size
		}
	}
	switch {
	case r < 0xd800 || r > 0xdfff && r <= utf8.MaxRune:
		return rune(r), u.size
	case u.size == 4 || !u.pairs || r >= 0xdc00:
		return wrongRune, u.size
	case len(b) < 4:
		return 0, 0
	}
	low := u.unit(b[2:])
	if low < 0xdc00 || low > 0xdfff {
		return wrongRune, 2
	}
	return rune((r-0xd800)<<10|(low-0xdc00)) + 0x10000, 4
}

func (u *wideUnits) unit(b []byte) uint32 {
	if u.size == 2 {
		return uint32(u.order.Uint16(b))
	}
	return u.order.Uint32(b)
}

func (u *wideUnits) encode(b []byte, r rune) ([]byte, bool) {
	if u.size == 2 && !u.pairs && r > 0xffff {
		return b, false
	}
	if u.fresh {
		u.fresh = false
		b = u.append(b, byteOrderMark)
	}
	if u.size == 2 && r > 0xffff {
		r -= 0x10000
		b = u.append(b, uint32(0xd800+r>>10))
		r = 0xdc00 + r&0x3ff
	}
	return u.append(b, uint32(r)), true
}

func (u *wideUnits) append(b []byte, v uint32) []byte {
	at := len(b)
	if u.size == 2 {
		b = append(b, 0, 0)
		u.order.PutUint16(b[at:], uint16(v))
		return b
	}
	b = append(b, 0, 0, 0, 0)
	u.order.PutUint32(b[at:], v)
	return b
}

// bytewise returns the encodings with one byte per character.
func bytewise() []charset {
	list := []struct {
		names string
		table *charmap.Charmap
	}{
		{"ISO-8859-1 ISO8859-1 ISO88591 ISO_8859-1 ISO_8859-1:1987 8859_1 LATIN1 L1 CP819 IBM819 ISO-IR-100 CSISOLATIN1", charmap.ISO8859_1},
		{"ISO-8859-2 ISO8859-2 ISO88592 ISO_8859-2 LATIN2 L2", charmap.ISO8859_2},
		{"ISO-8859-3 ISO8859-3 ISO88593 ISO_8859-3 LATIN3 L3", charmap.ISO8859_3},
		{"ISO-8859-4 ISO8859-4 ISO88594 ISO_8859-4 LATIN4 L4", charmap.ISO8859_4},
		{"ISO-8859-5 ISO8859-5 ISO88595 ISO_8859-5 CYRILLIC", charmap.ISO8859_5},
		{"ISO-8859-6 ISO8859-6 ISO88596 ISO_8859-6 ARABIC", charmap.ISO8859_6},
		{"ISO-8859-7 ISO8859-7 ISO88597 ISO_8859-7 GREEK GREEK8", charmap.ISO8859_7},
		{"ISO-8859-8 ISO8859-8 ISO88598 ISO_8859-8 HEBREW", charmap.ISO8859_8},
		{"ISO-8859-9 ISO8859-9 ISO88599 ISO_8859-9 LATIN5 L5", charmap.ISO8859_9},
		{"ISO-8859-10 ISO8859-10 ISO885910 ISO_8859-10 LATIN6 L6", charmap.ISO8859_10},
		{"ISO-8859-13 ISO8859-13 ISO885913 LATIN7 L7", charmap.ISO8859_13},
		{"ISO-8859-14 ISO8859-14 ISO885914 ISO_8859-14 LATIN8 L8", charmap.ISO8859_14},
		{"ISO-8859-15 ISO8859-15 ISO885915 ISO_8859-15 LATIN9 LATIN-9", charmap.ISO8859_15},
		{"ISO-8859-16 ISO8859-16 ISO885916 ISO_8859-16 LATIN10 L10", charmap.ISO8859_16},
		{"CP1250 WINDOWS-1250 MS-EE", charmap.Windows1250},
		{"CP1251 WINDOWS-1251 MS-CYRL", charmap.Windows1251},
		{"CP1252 WINDOWS-1252 MS-ANSI", charmap.Windows1252},
		{"CP1253 WINDOWS-1253 MS-GREEK", charmap.Windows1253},
		{"CP1254 WINDOWS-1254 MS-TURK", charmap.Windows1254},
		{"CP1256 WINDOWS-1256 MS-ARAB", charmap.Windows1256},
		{"CP1257 WINDOWS-1257 WINBALTRIM", charmap.Windows1257},
		{"CP874 WINDOWS-874", charmap.Windows874},
		{"IBM437 CP437 437", charmap.CodePage437},
		{"IBM850 CP850 850", charmap.CodePage850},
		{"IBM852 CP852 852", charmap.CodePage852},
		{"IBM855 CP855 855", charmap.CodePage855},
		{"IBM858 CP858 858", charmap.CodePage858},
		{"IBM860 CP860 860", charmap.CodePage860},
		{"IBM862 CP862 862", charmap.CodePage862},
		{"IBM863 CP863 863", charmap.CodePage863},
		{"IBM865 CP865 865", charmap.CodePage865},
		{"IBM866 CP866 866", charmap.CodePage866},
		{"KOI8-R KOI8R", charmap.KOI8R},
	}
	all := make([]charset, 0, len(list))
	for _, c := range list {
		// Microsoft's tables leave these bytes undefined; browsers read them as control characters.
		holes, controls := strings.HasPrefix(c.names, "CP"), strings.HasPrefix(c.names, "ISO")
		all = append(all, charset{
			names: charsetNames(c.names),
			decoder: plain(func(b []byte) (rune, int) {
				if r := rune(b[0]); controls && isHighControl(r) {
					return r, 1
				}
				r := c.table.DecodeByte(b[0])
				if r == utf8.RuneError || holes && isHighControl(r) {
					return wrongRune, 1
				}
				return r, 1
			}),
			encoder: plainEncoder(func(b []byte, r rune) ([]byte, bool) {
				if holes && isHighControl(r) {
					return b, false
				}
				if controls && isHighControl(r) {
					return append(b, byte(r)), true
				}
				code, ok := c.table.EncodeRune(r)
				if !ok {
					return b, false
				}
				return append(b, code), true
			}),
		})
	}
	return all
}

func isHighControl(r rune) bool { return r >= 0x80 && r < 0xa0 }
