package grep

import (
	"io"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
)

// searchIn searches one file. It skips a file with NUL bytes, unless the user named it or wants binary files: then it prints a
// note instead of lines.
func (r *rg) searchIn(name string, in io.Reader, explicit bool) {
	if r.json != nil && (explicit || r.binaries) {
		r.binary = binaryText // The JSON messages report the place of the first NUL byte.
	} else if r.binary != binaryText || r.json != nil {
		r.binary = binarySkipped
		if explicit || r.binaries {
			r.binary = binaryNoted
		}
	}
	r.binaryAt = -1
	if r.withHeading {
		r.used = false
	}
	if r.lineHook != nil {
		r.lineHook.total = 0
	}
	if r.json != nil {
		r.json.start()
	}
	total := int64(0)
	if r.multiline {
		total = r.scanWhole(name, in)
	} else {
		total = r.scan(name, in)
	}
	if r.ended != nil {
		return
	}
	r.matched = r.matched || total > 0
	if r.quiet {
		return
	}
	if r.json != nil {
		r.json.finish(name, r.searched, r.binaryAt)
		return
	}
	end := byte('\n')
	if r.nulNames {
		end = 0
	}
	switch {
	case r.listNot && r.binary == binarySkipped && r.binaryAt >= 0:
		// A file that is not searched is not listed.
	case r.list && total > 0, r.listNot && total == 0:
		_, _ = r.out.WriteString(name)
		_ = r.out.WriteByte(end)
	case r.list || r.listNot:
	case (r.count || r.matches) && total > 0:
		if r.matches {
			total = r.lineHook.total
		}
		if r.showNames {
			_, _ = r.out.WriteString(name)
			if r.nulNames {
				_ = r.out.WriteByte(0)
			} else {
				_ = r.out.WriteByte(':')
			}
		}
		_, _ = r.out.WriteString(strconv.FormatInt(total, 10) + "\n")
	case r.binaryAt >= 0 && total > 0:
		if r.showNames {
			_, _ = r.out.WriteString(name + ": ")
		}
		_, _ = r.out.WriteString(`binary file matches (found "\0" byte around offset ` + strconv.FormatInt(r.binaryAt, 10) + ")\n")
	}
}

// rgHook changes lines before they are written, and finds the column of a match.
type rgHook struct {
	r     *rg
	names []string
	caps  []int
	buf   []byte
	count bool // the matches instead of writing lines
	total int64

	json    *rgJSON // messages instead of lines
	vimgrep bool    // a line for each match
	column  int64   // of the current match; 0: the first one of the line
	span    *rgSpan // that is written, of an expression that matches over lines
	places  []int
}

// takes writes a line itself. It returns false when grep has to write the line.
func (h *rgHook) takes(s *grepScan, begin, end int, sep byte) bool {
	matching := sep == ':' && !s.invert
	switch {
	case h.count:
		h.countIn(s.buf[begin:end])
	case h.span != nil && sep == ':':
		h.writeSpan(s)
	case h.json != nil && matching:
		h.json.lines(s, begin, end, sep, h.matchesIn(s, begin, end))
	case h.json != nil:
		h.json.lines(s, begin, end, sep, nil)
	case h.vimgrep && matching:
		h.writeEach(s, begin, h.matchesIn(s, begin, end))
	default:
		return false
	}
	return true
}

// countIn counts the matches in a line.
func (h *rgHook) countIn(line []byte) {
	text, at := line[:len(line)-1], 0
	var caps [2]int
	for at <= len(text) && h.r.m.Find(text, at, caps[:]) {
		h.total++
		if at = caps[1]; caps[0] == caps[1] {
			at++
		}
	}
}

// columnOf returns the place of the first match in a line, counted from 1.
func (h *rgHook) columnOf(text []byte) int64 {
	if h.column > 0 {
		return h.column
	}
	if h.span != nil {
		return int64(h.span.matches[0] - h.span.begin + 1)
	}
	var caps [2]int
	if !h.r.m.Find(text, 0, caps[:]) {
		return 1
	}
	return int64(caps[0] + 1)
}

// rewrite returns the line with its matches replaced; only keeps the replacements alone, one a line.
func (h *rgHook) rewrite(line []byte) []byte {
	text := line[:len(line)-1]
	out, at, from := h.buf[:0], 0, 0
	for at <= len(text) && h.r.m.Find(text, at, h.caps) {
		begin, end := h.caps[0], h.caps[1]
		out = append(out, text[from:begin]...)
		out = h.expand(out, text)
		from = end
		if at = end; begin == end {
			at++
		}
	}
	out = append(out, text[from:]...)
	h.buf = append(out, line[len(line)-1])
	return h.buf
}

// expand appends the replacement for the match in caps.
func (h *rgHook) expand(out, text []byte) []byte {
	rest := h.r.replace
	for {
		i := strings.IndexByte(rest, '$')
		if i < 0 || i+1 == len(rest) {
			return append(out, rest...)
		}
		out = append(out, rest[:i]...)
		rest = rest[i+1:]
		if rest[0] == '$' {
			out = append(out, '$')
			rest = rest[1:]
			continue
		}
		name, after, ok := groupName(rest)
		if !ok {
			out = append(out, '$')
			continue
		}
		if n := h.group(name); n >= 0 && 2*n+1 < len(h.caps) && h.caps[2*n] >= 0 {
			out = append(out, text[h.caps[2*n]:h.caps[2*n+1]]...)
		}
		rest = after
	}
}

// groupName reads the name behind a dollar, which may be in braces.
func groupName(s string) (name, rest string, ok bool) {
	if s[0] == '{' {
		if end := strings.IndexByte(s, '}'); end > 0 {
			return s[1:end], s[end+1:], true
		}
		return "", s, false
	}
	n := 0
	for n < len(s) && (s[n] == '_' || ascii.IsLetter(s[n]) || ascii.IsDigit(s[n])) {
		n++
	}
	return s[:n], s[n:], n > 0
}

func (h *rgHook) group(name string) int {
	if n, err := strconv.Atoi(name); err == nil {
		return n
	}
	for i, other := range h.names {
		if other == name && name != "" {
			return i
		}
	}
	return -1
}
