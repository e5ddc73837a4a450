package grep

import (
	"bytes"
	"errors"
	"io"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// grepBlock is the part of a file that is searched at once, in bytes.
const grepBlock = 96 << 10

// grepScan is the search in one file. The buffer holds whole lines, with those
// before them that may have to be shown.
type grepScan struct {
	*grep
	name string
	in   io.Reader
	eol  byte

	buf   []byte
	n     int   // bytes in buf
	done  int   // lines up to here have been looked at
	base  int64 // place of buf in the file
	lines int64 // lines up to seen
	seen  int   // place up to which lines are counted

	shown   int   // behind the last line that was written; -1 when that is not in buf
	pending int   // lines still to be written behind a selected one
	left    int64 // lines that may still be selected
	total   int64 // selected lines
	behind  int64 // place in the file behind the last one
	eof     bool
	added   bool // the end of the last line was not in the file

	silent   bool // only whether there is a selected line matters
	suppress bool // no line is written
	nul      bool // the file has NUL bytes, seen after so many selected lines
	nulAfter int64
	garbled  bool // a line was not text
}

// scan searches a file and returns how many lines are selected.
func (g *grep) scan(name string, in io.Reader) int64 {
	s := &grepScan{grep: g, name: name, in: in, eol: '\n', shown: -1, left: g.max, buf: g.spare}
	if g.nul {
		s.eol = 0
	}
	g.spare = nil
	s.silent = g.quiet || g.list || g.listNot
	s.suppress = s.silent || g.count
	for g.ended == nil && s.fill() {
		s.block()
		if s.left == 0 && s.pending == 0 || s.silent && s.nulAfter < s.total || g.out.HasFailed() {
			break
		}
	}
	s.finish()
	g.spare = s.buf
	return s.total
}

// finish prints the result of the search.
func (s *grepScan) finish() {
	g := s.grep
	switch err := g.m.Err(); {
	case errors.Is(err, regex.ErrSteps) && g.matcher == "P":
		g.report("%s: exceeded PCRE's backtracking limit", s.name)
	case errors.Is(err, regex.ErrSteps):
		g.report("%s: exceeded the backtracking limit", s.name)
	case err != nil:
		g.ended = err
	}
	if !g.quiet && !g.list && !g.listNot && !g.count && g.label != rgStdin && (s.garbled || s.nul && s.nulAfter < s.total) {
		g.flush()
		g.p.Warn("%s: binary file matches", s.name)
	}
	if s.searched = s.base + int64(s.n); s.added {
		s.searched--
	}
	if s.left == 0 {
		s.searched = s.behind
	}
	if s.left == 0 && s.name == g.label {
		g.rewind(s.behind)
	}
}

// rewind leaves standard input behind the last line that was selected, for the next reader.
func (g *grep) rewind(at int64) {
	f, err := g.p.Stream(0)
	if err != nil {
		return
	}
	defer f.Close()
	// A pipe cannot go back, and need not.
	_, _ = f.Seek(at, io.SeekStart)
}

// fill reads the next block, up to the end of a line. It returns false at the end of the file.
func (s *grepScan) fill() bool {
	if s.eof {
		return false
	}
	s.drop()
	for {
		if s.n+1 >= len(s.buf) {
			more := max(len(s.buf), grepBlock)
			if len(s.buf) > 0 && s.p.Reserve(more) != nil { // All processes share the first block.
				s.p.Warn("memory exhausted")
				s.ended = syscall.ENOMEM
				return false
			}
			s.buf = append(s.buf, make([]byte, more)...)
		}
		from := s.n
		n, err := s.in.Read(s.buf[s.n : len(s.buf)-1])
		s.n += n
		if e := s.p.Spend(1 + n>>6); e != nil {
			s.ended = e
			return false
		}
		if !s.examine(from) {
			return false
		}
		if err == nil && bytes.IndexByte(s.buf[from:s.n], s.eol) < 0 {
			continue
		}
		if err != nil {
			s.end(err)
		}
		return s.n > s.done
	}
}

// end notes the end of the file; a last line without an end gets one.
func (s *grepScan) end(err error) {
	s.eof = true
	if !program.IsEnd(err) {
		s.fileError(s.name, err)
	}
	if s.n > s.done && s.buf[s.n-1] != s.eol {
		s.buf[s.n] = s.eol
		s.n++
		s.added = true
	}
}

// drop makes room: of what has been looked at only the lines that may have to be
// shown stay.
func (s *grepScan) drop() {
	keep := s.done
	if !s.suppress {
		keep = s.back(s.done)
	}
	if s.number && !s.suppress {
		s.countTo(keep)
	}
	if s.shown == keep {
		s.shown = 0
	} else {
		s.shown = -1
	}
	s.n = copy(s.buf, s.buf[keep:s.n])
	s.done -= keep
	s.seen -= keep
	s.base += int64(keep)
}

// back returns where the lines begin that are shown before the one at at.
func (s *grepScan) back(at int) int {
	for n := s.before; n > 0 && at > max(s.shown, 0); n-- {
		at = bytes.LastIndexByte(s.buf[:at-1], s.eol) + 1
	}
	return at
}

// countTo counts the lines up to at.
func (s *grepScan) countTo(at int) {
	if at > s.seen {
		s.lines += int64(bytes.Count(s.buf[s.seen:at], []byte{s.eol}))
		s.seen = at
	}
}

// examine checks whether the data is text. It returns false when binary data counts as having no match.
func (s *grepScan) examine(from int) bool {
	if s.eol == 0 || s.binary == binaryText {
		if s.lineHook != nil && s.lineHook.json != nil {
			s.lineHook.json.noteBinary(s, from)
		}
		return true
	}
	if !s.nul && bytes.IndexByte(s.buf[from:s.n], 0) >= 0 {
		if s.binaryAt < 0 {
			s.binaryAt = s.base + int64(from+bytes.IndexByte(s.buf[from:s.n], 0))
		}
		if s.binary == binarySkipped {
			return false
		}
		s.nul = true
		s.nulAfter = s.total
		if !s.count {
			s.silent, s.suppress = true, true
		}
	}
	for i := from; s.nul && i < s.n; i++ {
		// As in GNU's, a NUL ends a line of a binary file.
		if s.buf[i] == 0 {
			s.buf[i] = s.eol
		}
	}
	return true
}

// block selects lines up to the last whole one in the buffer.
func (s *grepScan) block() {
	lim := bytes.LastIndexByte(s.buf[:s.n], s.eol) + 1
	text := s.buf[:lim]
	for at := s.done; at < lim && s.left > 0; {
		begin, end, ok := s.m.Line(text, at)
		if !ok {
			begin, end = lim, lim-1
		}
		if s.m.Err() != nil {
			s.eof, s.pending = true, 0
			break
		}
		if s.invert {
			s.selectLines(at, begin)
		} else if ok {
			s.selectLines(begin, end+1)
		}
		at = end + 1
		if s.silent && s.nulAfter < s.total {
			break
		}
	}
	s.after(lim)
	s.done = lim
}

// selectLines selects the lines from begin to end.
func (s *grepScan) selectLines(begin, end int) {
	if s.suppress && begin < end && s.left > int64(end-begin) {
		n := int64(1)
		if s.invert {
			n = int64(bytes.Count(s.buf[begin:end], []byte{s.eol}))
		}
		s.total += n
		s.left -= n
		return
	}
	for begin < end && s.left > 0 {
		next := begin + bytes.IndexByte(s.buf[begin:end], s.eol) + 1
		s.total++
		s.left--
		s.behind = s.base + int64(next)
		if !s.suppress {
			s.show(begin, next)
		}
		begin = next
	}
}

// show writes a selected line, and those before it.
func (s *grepScan) show(begin, end int) {
	s.after(begin)
	from := s.back(begin)
	if (s.before >= 0 || s.grep.after >= 0) && s.used && from != s.shown && !s.noSeparator {
		s.writeSeparator()
	}
	for from < begin {
		next := from + bytes.IndexByte(s.buf[from:], s.eol) + 1
		s.writeLine(from, next, '-')
		from = next
	}
	s.writeLine(begin, end, ':')
	s.pending = max(s.grep.after, 0)
	s.used = true
}

// after writes the lines that still belong to the last selected one, up to at.
func (s *grepScan) after(at int) {
	for s.pending > 0 && s.shown >= 0 && s.shown < at {
		next := s.shown + bytes.IndexByte(s.buf[s.shown:], s.eol) + 1
		s.writeLine(s.shown, next, '-')
		s.pending--
	}
}

// report is a message that counts as an error.
func (g *grep) report(format string, args ...any) {
	g.flush()
	g.p.Warn(format, args...)
	g.failed = true
}

// fileError reports a file that cannot be read.
func (g *grep) fileError(name string, err error) {
	g.failed = true
	if !g.noMessages {
		g.flush()
		g.p.Warn("%s: %s", name, shell.Strerror(err))
	}
}

// flush writes the buffered output before a message, so that the two are in order where both
// go to one place.
func (g *grep) flush() {
	// The error stays in the writer.
	_ = g.out.Flush()
}
