package find

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/cformat"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filesystem"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filetime"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// formatPart writes one piece of a format.
type formatPart func(e *findEntry) (string, bool)

// formatPartWeight is the memory of a directive or escape, and of the text behind it, in bytes.
const formatPartWeight = 192

// formatter is -printf: the format is read once.
func (p *findParser) formatter(to *findFile, format string) predicate {
	var parts []formatPart
	if p.proc.Reserve(formatPartWeight*(1+strings.Count(format, "%")+strings.Count(format, `\`))) != nil {
		p.fault("memory exhausted")
		return nil
	}
	text := func(s string) {
		parts = append(parts, func(*findEntry) (string, bool) { return s, true })
	}
	stop := false
	for i := 0; i < len(format) && !stop; {
		switch format[i] {
		case '\\':
			s, n, end := p.escape(format[i:])
			text(s)
			i += n
			stop = end
		case '%':
			part, n := p.directive(format[i:])
			if p.failed {
				return nil
			}
			parts = append(parts, part)
			i += n
		default:
			n := strings.IndexAny(format[i:], `\%`)
			if n < 0 {
				n = len(format) - i
			}
			text(format[i : i+n])
			i += n
		}
	}
	return func(e *findEntry) bool {
		var b strings.Builder
		for _, part := range parts {
			s, ok := part(e)
			if !ok {
				return true
			}
			b.WriteString(s)
		}
		to.write(b.String())
		return true
	}
}

// escape reads the escape at the start of s; end reports whether the output ends here (\c).
func (p *findParser) escape(s string) (text string, n int, end bool) {
	if len(s) == 1 {
		p.proc.Warn("warning: escape `\\' followed by nothing at all")
		return `\`, 1, false
	}
	c := s[1]
	if i := strings.IndexByte("abfnrtv", c); i >= 0 {
		return "\a\b\f\n\r\t\v"[i : i+1], 2, false
	}
	switch {
	case c == 'c':
		return "", 2, true
	case c == '\\':
		return `\`, 2, false
	case c >= '0' && c <= '7':
		value := 0
		for n = 1; n < len(s) && n < 4 && s[n] >= '0' && s[n] <= '7'; n++ {
			value = value*8 + int(s[n]-'0')
		}
		return string([]byte{byte(value)}), n, false
	}
	p.proc.Warn("warning: unrecognized escape `\\%c'", c)
	return s[:2], 2, false
}

// directive reads the directive at the start of s and its length.
func (p *findParser) directive(s string) (formatPart, int) {
	i := 1
	for i < len(s) && strings.IndexByte("-+ #0", s[i]) >= 0 {
		i++
	}
	for i < len(s) && (ascii.IsDigit(s[i]) || s[i] == '.') {
		i++
	}
	if i >= len(s) {
		p.fault("error: %s at end of format string", s)
		return nil, i
	}
	spec, c := s[:i], s[i]
	i++
	literal := func(t string) formatPart { return func(*findEntry) (string, bool) { return t, true } }
	switch {
	case c == '%':
		return literal("%"), i
	case strings.IndexByte("ABCT", c) >= 0:
		if i >= len(s) {
			p.proc.Warn("warning: format directive `%s' should be followed by another character", s)
			return literal(s), i
		}
		return p.timeDirective(spec, c, s[i]), i + 1
	case strings.IndexByte("act", c) >= 0:
		return p.timeDirective(spec, c-'a'+'A', 0), i
	case strings.IndexByte("dbknDGiUmsS", c) >= 0:
		return p.numberDirective(spec, c), i
	case strings.IndexByte("fFgHhlMPpuyYZ", c) >= 0:
		return p.textDirective(spec, c), i
	}
	p.proc.Warn("warning: unrecognized format directive `%%%c'", c)
	return literal(s[:i]), i
}

// width keeps the allowed flags and numbers of a verb.
func width(spec string) string {
	digits := 0
	for i := range len(spec) {
		if digits++; !ascii.IsDigit(spec[i]) {
			digits = 0
		}
		if digits > 4 {
			return "%"
		}
	}
	return spec
}

// numberDirective is a directive for a number; it is written as text unless flags ask for more.
func (p *findParser) numberDirective(spec string, c byte) formatPart {
	value := map[byte]func(e *findEntry) int64{
		'd': func(e *findEntry) int64 { return int64(e.depth) },
		'b': func(e *findEntry) int64 { return e.info.Blocks },
		'k': func(e *findEntry) int64 { return sizes.CeilDiv(e.info.Blocks, 2) },
		'n': func(e *findEntry) int64 { return int64(e.info.Nlink) },
		'D': func(*findEntry) int64 { return filesystem.DeviceNumber },
		'G': func(e *findEntry) int64 { return int64(e.info.GID) },
		'U': func(e *findEntry) int64 { return int64(e.info.UID) },
		'i': func(e *findEntry) int64 { return int64(e.info.Ino) },
		'm': func(e *findEntry) int64 { return int64(filemode.Bits(e.info.Mode)) },
		's': func(e *findEntry) int64 { return e.info.Size },
	}[c]
	spec = width(spec)
	switch c {
	case 'S':
		return func(e *findEntry) (string, bool) {
			if !e.stat() {
				return "", false
			}
			return fmt.Sprintf(spec+"s", sparseFactor(e.info)), true
		}
	case 'm':
		return func(e *findEntry) (string, bool) {
			if !e.stat() {
				return "", false
			}
			return fmt.Sprintf(spec+"o", value(e)), true
		}
	case 'd':
		return func(e *findEntry) (string, bool) { return fmt.Sprintf(spec+"d", value(e)), true }
	}
	return func(e *findEntry) (string, bool) {
		if !e.stat() {
			return "", false
		}
		return fmt.Sprintf(textSpec(spec), strconv.FormatInt(value(e), 10)), true
	}
}

// textSpec is the verb for text: C has no zeros before it.
func textSpec(spec string) string {
	flags := 1
	for flags < len(spec) && strings.IndexByte("-+ #0", spec[flags]) >= 0 {
		flags++
	}
	left := ""
	if strings.Contains(spec[:flags], "-") {
		left = "-"
	}
	return "%" + left + spec[flags:] + "s"
}

func sparseFactor(i vfs.Info) string {
	switch {
	case i.Size == 0 && i.Blocks == 0:
		return "1"
	case i.Size == 0 && i.Blocks > 0:
		return "inf"
	case i.Size == 0:
		return "-inf"
	}
	return cformat.ShortFloat(float64(i.Blocks)*512/float64(i.Size), 6, false)
}

// textDirective is a directive for text.
func (p *findParser) textDirective(spec string, c byte) formatPart {
	verb := textSpec(width(spec))
	value := p.textValue(c)
	return func(e *findEntry) (string, bool) {
		s, ok := value(e)
		if !ok {
			return "", false
		}
		if verb == "%s" {
			return s, true
		}
		return fmt.Sprintf(verb, s), true
	}
}

func (p *findParser) textValue(c byte) func(e *findEntry) (string, bool) {
	plain := func(fn func(e *findEntry) string) func(e *findEntry) (string, bool) {
		return func(e *findEntry) (string, bool) { return fn(e), true }
	}
	known := func(fn func(e *findEntry) string) func(e *findEntry) (string, bool) {
		return func(e *findEntry) (string, bool) {
			if !e.stat() {
				return "", false
			}
			return fn(e), true
		}
	}
	switch c {
	case 'f':
		return plain(func(e *findEntry) string { return lastElement(e.path) })
	case 'F':
		return plain(func(*findEntry) string { return filesystem.Type })
	case 'H':
		return plain(func(e *findEntry) string { return e.start })
	case 'h':
		return plain(func(e *findEntry) string { return leadingElements(e.path) })
	case 'p':
		return plain(func(e *findEntry) string { return e.path })
	case 'P':
		return plain(func(e *findEntry) string {
			return strings.TrimPrefix(strings.TrimPrefix(e.path, e.start), "/")
		})
	case 'l':
		return plain(func(e *findEntry) string {
			if e.mode&fs.ModeSymlink == 0 {
				return ""
			}
			target, _ := p.proc.Readlink(e.path)
			return target
		})
	case 'g':
		return known(func(e *findEntry) string { return p.accounts.Group(e.info.GID) })
	case 'u':
		return known(func(e *findEntry) string { return p.accounts.User(e.info.UID) })
	case 'M':
		return known(func(e *findEntry) string { return filemode.String(e.info.Mode) })
	case 'y':
		return plain(func(e *findEntry) string { return findTypeLetter(e.mode) })
	case 'Y':
		return plain(p.linkedType)
	}
	return plain(func(*findEntry) string { return "" })
}

func findTypeLetter(m fs.FileMode) string {
	if m.IsRegular() {
		return "f"
	}
	return string(filemode.TypeLetter(m))
}

// linkedType is %Y: the type of the target of a link.
func (p *findParser) linkedType(e *findEntry) string {
	if e.mode&fs.ModeSymlink == 0 {
		return findTypeLetter(e.mode)
	}
	info, err := p.proc.Stat(e.path)
	switch shell.Errno(err) {
	case syscall.ENOENT, syscall.ENOTDIR:
		return "N"
	case syscall.ELOOP:
		return "L"
	default:
	}
	if err != nil {
		return "?"
	}
	return findTypeLetter(info.Mode)
}

// lastElement is %f: a path from its last slash on, of which a trailing one does not count.
func lastElement(path string) string {
	trimmed := strings.TrimRight(path, "/")
	if trimmed == "" {
		return path[:min(1, len(path))]
	}
	return path[strings.LastIndexByte(trimmed, '/')+1:]
}

// leadingElements is %h: the path before the last element.
func leadingElements(path string) string {
	trimmed := strings.TrimRight(path, "/")
	i := strings.LastIndexByte(trimmed, '/')
	switch {
	case i >= 0:
		return trimmed[:i]
	case trimmed != path: // "d/" is in "d", as GNU sees it.
		return trimmed
	}
	return "."
}

// timeDirective is %Ak, %Ck and %Tk: a time by the rules of strftime, with fractions of
// seconds. The form 0 is that of ctime(3).
func (p *findParser) timeDirective(spec string, which, form byte) formatPart {
	verb := textSpec(width(spec))
	kind := map[byte]filetime.Kind{'A': filetime.Access, 'B': filetime.Birth, 'C': filetime.Change, 'T': filetime.Modify}[which]
	return func(e *findEntry) (string, bool) {
		if !e.stat() {
			return "", false
		}
		t := kind.Of(&e.info)
		if t.IsZero() {
			return "", true
		}
		s := findTimeText(t.In(p.zone), form)
		if verb != "%s" {
			s = fmt.Sprintf(verb, s)
		}
		return s, true
	}
}

func findTimeText(t time.Time, form byte) string {
	fraction := fmt.Sprintf(".%09d0", t.Nanosecond())
	switch form {
	case '@':
		return strconv.FormatInt(t.Unix(), 10) + fraction
	case '+':
		return strftime.Format("%Y-%m-%d+%H:%M:%S", t) + fraction
	case 'S', 'T', 'X':
		return strftime.Format("%"+string(form), t) + fraction
	case '%':
		return "%"
	case 'c', 'r':
		return strftime.Format("%"+string(form), t)
	case 0:
		return strftime.Format("%a %b %e %H:%M:%S", t) + fraction + strftime.Format(" %Y", t)
	}
	if strings.IndexByte("aAbBdDFgGhHIjklmMpsuUVwWxyYZzCeRnt", form) < 0 {
		return "%" + string(form)
	}
	return strftime.Format("%"+string(form), t)
}
