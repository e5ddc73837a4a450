package grep

import (
	"bytes"
	"errors"
	"io"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// rgSpan is lines that follow each other, and the matches in them, which may go over several of them.
type rgSpan struct {
	begin, end int
	matches    []int // pairs of places
}

// scanWhole is scan for expressions that may match over lines: the whole file has to be in memory.
func (r *rg) scanWhole(name string, in io.Reader) int64 {
	text, err := program.ReadWhole(r.p, in)
	if err != nil {
		if r.p.Context().Err() != nil || errors.Is(err, shell.ErrFuel) {
			r.ended = err
		} else {
			r.fileError(name, err)
		}
		return 0
	}
	s := &grepScan{grep: r.grep, name: name, eol: '\n', shown: 0, left: r.max, buf: append(text, 0), n: len(text)}
	s.silent = r.quiet || r.list || r.listNot
	s.suppress = s.silent || r.count
	if len(text) > 0 && s.examine(0) {
		s.end(io.EOF)
		s.wholeBlock(r)
	}
	s.finish()
	r.searched = int64(len(text))
	return s.total
}

// wholeBlock finds the matches in the whole file.
func (s *grepScan) wholeBlock(r *rg) {
	text := s.buf[:s.n]
	if s.added {
		text = text[:s.n-1]
	}
	var span rgSpan
	behind := 0 // of the last span
	emit := func() {
		if len(span.matches) == 0 {
			return
		}
		if s.invert {
			s.selectLines(behind, span.begin)
		} else {
			s.showSpan(r, span)
		}
		behind = span.end
		span.matches = span.matches[:0]
	}
	var caps [2]int
	for at := 0; at <= len(text) && s.left > 0 && s.m.Find(text, at, caps[:]); {
		begin, end := caps[0], caps[1]
		if at = end; begin == end {
			at++
		}
		if begin == len(text) && begin > 0 && text[begin-1] == '\n' {
			break // There is no line behind the last newline.
		}
		if begin >= span.end {
			emit()
			span.begin = bytes.LastIndexByte(s.buf[:begin], '\n') + 1
			span.end = span.begin
		}
		if end > span.end || begin == end && begin == span.end {
			last := max(end-1, begin)
			span.end = last + bytes.IndexByte(s.buf[last:s.n], '\n') + 1
		}
		if s.p.Reserve(16) != nil {
			s.p.Warn("memory exhausted")
			s.failed = true
			break
		}
		span.matches = append(span.matches, begin, end)
		if s.silent {
			break
		}
	}
	emit()
	if s.invert {
		s.selectLines(behind, s.n)
	}
	s.after(s.n)
	s.done = s.n
}

// showSpan selects the lines of a span.
func (s *grepScan) showSpan(r *rg, span rgSpan) {
	if s.left <= 0 {
		return
	}
	s.total += int64(len(span.matches) / 2)
	s.left--
	if s.suppress {
		return
	}
	r.lineHook.span = &span
	s.show(span.begin, span.end)
	r.lineHook.span = nil
}

// writeSpan writes the lines of the current span.
func (h *rgHook) writeSpan(s *grepScan) {
	span := h.span
	switch {
	case h.json != nil:
		h.json.lines(s, span.begin, span.end, ':', span.matches)
	case h.vimgrep:
		h.writeEach(s, span.begin, span.matches)
	case s.only:
		for i := 0; i < len(span.matches); i += 2 {
			h.writePart(s, span.matches[i], span.matches[i+1])
		}
	case h.r.replaces:
		h.writeReplaced(s, span)
	default:
		for at := span.begin; at < span.end; {
			next := at + bytes.IndexByte(s.buf[at:span.end], '\n') + 1
			s.head(s.buf[at:next], at, ':')
			_, _ = s.out.Write(s.buf[at:next])
			at = next
		}
	}
	s.shown = span.end
}

// writePart writes the lines of a match, or their replacement.
func (h *rgHook) writePart(s *grepScan, begin, end int) {
	if h.r.replaces {
		h.r.m.Find(s.buf[:s.n], begin, h.caps)
		s.head(s.buf[begin:end], begin, ':')
		_, _ = s.out.Write(append(h.expand(nil, s.buf), '\n'))
		return
	}
	for at := begin; at < end; {
		line, _, _ := bytes.Cut(s.buf[at:end], []byte{'\n'})
		s.head(line, at, ':')
		_, _ = s.out.Write(line)
		_ = s.out.WriteByte('\n')
		at += len(line) + 1
	}
}

// writeReplaced writes a span with its matches replaced; lines are numbered from its first one on.
func (h *rgHook) writeReplaced(s *grepScan, span *rgSpan) {
	text, from := h.buf[:0], span.begin
	for i := 0; i < len(span.matches); i += 2 {
		if !h.r.m.Find(s.buf[:s.n], span.matches[i], h.caps) {
			break
		}
		text = append(text, s.buf[from:span.matches[i]]...)
		text = h.expand(text, s.buf)
		from = span.matches[i+1]
	}
	text = append(text, s.buf[from:max(from, span.end)]...)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	h.buf = text
	at := span.begin
	for len(text) > 0 {
		line := text[:bytes.IndexByte(text, '\n')+1]
		s.head(line, at, ':')
		_, _ = s.out.Write(line)
		text = text[len(line):]
		if next := bytes.IndexByte(s.buf[at:span.end], '\n'); next >= 0 && at+next+1 < span.end {
			at += next + 1
		}
	}
}

// writeEach writes the first line of each match, with its column.
func (h *rgHook) writeEach(s *grepScan, begin int, matches []int) {
	for i := 0; i < len(matches); i += 2 {
		line := begin + bytes.LastIndexByte(s.buf[begin:matches[i]], '\n') + 1
		end := line + bytes.IndexByte(s.buf[line:s.n], '\n') + 1
		h.column = int64(matches[i] - line + 1)
		s.head(s.buf[line:end], line, ':')
		h.column = 0
		_, _ = s.out.Write(s.buf[line:end])
	}
}

// matchesIn returns the places of the matches in a line of the buffer.
func (h *rgHook) matchesIn(s *grepScan, begin, end int) []int {
	text := s.buf[begin : end-1]
	h.places = h.places[:0]
	var caps [2]int
	for at := 0; at <= len(text) && h.r.m.Find(text, at, caps[:]); {
		if caps[0] == len(text) && len(text) > 0 && s.added && end == s.n {
			break // The match is empty and behind the end of the text.
		}
		places, err := program.Append(h.r.p, h.places, begin+caps[0], begin+caps[1])
		if err != nil {
			h.r.ended = err
			break
		}
		h.places = places
		if at = caps[1]; caps[0] == caps[1] {
			at++
		}
	}
	return h.places
}
