package grep

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
)

// writeSeparator writes the separator between groups of lines.
func (s *grepScan) writeSeparator() {
	s.colored(s.separatorColor(), s.separator)
	_ = s.out.WriteByte('\n')
}

func (s *grepScan) separatorColor() string {
	if s.color == nil {
		return ""
	}
	return s.color.separator
}

// colored writes text in a colour.
func (s *grepScan) colored(color, text string) {
	if s.color == nil || color == "" {
		_, _ = s.out.WriteString(text)
		return
	}
	_, _ = s.out.WriteString(s.color.start(color) + text + s.color.end(color))
}

// writeLine writes the line from begin to end, its end included; sep is ':' for a
// selected one. Errors stay in the writer.
func (s *grepScan) writeLine(begin, end int, sep byte) {
	s.shown = end
	line := s.buf[begin:end]
	if s.lineHook != nil && s.lineHook.takes(s, begin, end, sep) {
		return
	}
	selected := sep == ':'
	if !s.only && !s.head(line, begin, sep) {
		return
	}
	matching := selected != s.invert
	lineColor, matchColor := s.colors(selected)
	switch {
	case s.only:
		if matching {
			s.parts(line, begin, sep, lineColor, matchColor)
		}
	case s.color != nil && (lineColor != "" || matchColor != ""):
		rest := 0
		if matching && matchColor != "" {
			rest = s.parts(line, begin, sep, lineColor, matchColor)
		}
		if lineColor != "" && rest < len(line) {
			rest = s.tail(line, rest, lineColor)
		}
		_, _ = s.out.Write(line[rest:])
	case s.lineHook != nil && s.lineHook.r.replaces && matching:
		_, _ = s.out.Write(s.lineHook.rewrite(line))
	default:
		_, _ = s.out.Write(line)
	}
	if s.buffered {
		s.flush()
	}
}

// colors returns those of a line and of the matches in it.
func (s *grepScan) colors(selected bool) (line, match string) {
	c := s.color
	if c == nil {
		return "", ""
	}
	if line = c.other; selected != (s.invert && c.swap) {
		line = c.line
	}
	if match = c.context; selected {
		match = c.selected
	}
	return line, match
}

// parts writes the matches in a line: alone for -o, else with the text between them.
// It returns how far it came.
func (s *grepScan) parts(line []byte, begin int, sep byte, lineColor, matchColor string) (rest int) {
	text := line[:len(line)-1]
	caps := [2]int{}
	at, from := 0, 0 // up to at is searched, up to from is written
	for at <= len(text) && s.m.Find(text, at, caps[:]) {
		b, e := caps[0], caps[1]
		if b == len(text) && e == b {
			break
		}
		if e == b {
			_, width := utf8.DecodeRune(text[b:])
			if s.bytes {
				width = 1
			}
			at = b + width
			continue
		}
		if s.only {
			if !s.head(text[b:e], begin+b, sep) {
				return len(line)
			}
			if s.lineHook != nil && s.lineHook.r.replaces {
				s.m.Find(text, b, s.lineHook.caps)
				_, _ = s.out.Write(s.lineHook.expand(nil, text))
			} else {
				s.colored(matchColor, string(text[b:e]))
			}
			_ = s.out.WriteByte(s.eol)
		} else {
			_, _ = s.out.WriteString(s.color.start(lineColor))
			_, _ = s.out.Write(text[from:b])
			_, _ = s.out.WriteString(s.color.end(lineColor))
			s.colored(matchColor, string(text[b:e]))
		}
		at, from = e, e
	}
	return from
}

// tail writes the rest of a line in its colour, but for its end.
func (s *grepScan) tail(line []byte, from int, color string) (rest int) {
	end := len(line) - 1
	if end > from && line[end-1] == '\r' {
		end--
	}
	if end > from {
		s.colored(color, string(line[from:end]))
	}
	return max(end, from)
}

// head writes the prefix of a line or of a part of it. It returns false
// when that is not text and must not be shown.
func (s *grepScan) head(text []byte, at int, sep byte) bool {
	if !s.bytes && s.binary != binaryText && s.eol != 0 && !utf8.Valid(text) {
		s.garbled = true
		return false
	}
	switch {
	case s.withHeading:
		s.writeHeading()
	case s.showNames:
		s.fileName()
		if s.nulNames {
			_ = s.out.WriteByte(0)
		} else {
			s.mark(sep)
		}
	}
	if s.number {
		s.countTo(at)
		s.field(s.lines+1, s.numberColor())
		s.mark(sep)
	}
	if s.lineHook != nil && s.lineHook.r.column && sep == ':' {
		s.field(s.lineHook.columnOf(text), s.numberColor())
		s.mark(sep)
	}
	if s.offset {
		s.field(s.base+int64(at), s.offsetColor())
		s.mark(sep)
	}
	if s.tab && (s.showNames || s.number || s.offset) && len(bytes.TrimSuffix(text, []byte{s.eol})) > 0 {
		_ = s.out.WriteByte('\t')
	}
	return true
}

// writeHeading writes the file's name above its first line.
func (s *grepScan) writeHeading() {
	if s.headed == s.name {
		return
	}
	if s.headed != "" {
		_ = s.out.WriteByte('\n')
	}
	s.headed = s.name
	s.fileName()
	_ = s.out.WriteByte('\n')
}

func (s *grepScan) fileName() {
	color := ""
	if s.color != nil {
		color = s.color.file
	}
	s.colored(color, s.name)
}

func (s *grepScan) numberColor() string {
	if s.color == nil {
		return ""
	}
	return s.color.number
}

func (s *grepScan) offsetColor() string {
	if s.color == nil {
		return ""
	}
	return s.color.offset
}

// mark writes the separator behind a field.
func (s *grepScan) mark(sep byte) {
	if s.color == nil {
		_ = s.out.WriteByte(sep)
		return
	}
	s.colored(s.color.separator, string(sep))
}

// field writes a number, with -T as wide as the largest one may be.
func (s *grepScan) field(n int64, color string) {
	var digits [24]byte
	text := digits[:0]
	if s.tab {
		text = program.AppendPadded(text, int(n), s.width())
	} else {
		text = strconv.AppendInt(text, n, 10)
	}
	if color == "" {
		_, _ = s.out.Write(text)
		return
	}
	s.colored(color, string(text))
}

// width is that of the file's size; what has none may be of any.
func (s *grepScan) width() int {
	name := s.name
	if name == s.label {
		name = "/dev/stdin"
	}
	info, err := s.p.Stat(name)
	if err != nil || !info.Mode.IsRegular() {
		return 20
	}
	size := info.Size
	if s.number {
		size++
	}
	return len(strconv.FormatInt(size, 10))
}
