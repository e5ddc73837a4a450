package coreutils

import (
	"bytes"
	"io"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// lineReader reads lines, or blocks of whole lines, from a stream. It takes fuel for
// what it reads.
type lineReader struct {
	p     *shell.Proc
	in    io.Reader
	delim byte

	buf   []byte
	r, w  int
	ended error // io.EOF, why reading failed, or why the process has to end
	spent bool  // ended is the process's
	count int   // lines that next has returned
}

func newLineReader(p *shell.Proc, in io.Reader, delim byte) *lineReader {
	return &lineReader{p: p, in: in, delim: delim}
}

// reset goes on with another stream, with the same buffer.
func (l *lineReader) reset(in io.Reader) {
	l.in, l.r, l.w = in, 0, 0
	if !l.spent {
		l.ended = nil
	}
}

// fill reads more behind what is there. It returns false at the end.
func (l *lineReader) fill() bool {
	if l.ended != nil {
		return false
	}
	if l.r > 0 {
		l.w = copy(l.buf, l.buf[l.r:l.w])
		l.r = 0
	}
	if l.w == len(l.buf) && !l.grow() {
		return false
	}
	n, err := l.in.Read(l.buf[l.w:])
	l.w += n
	if e := l.p.Spend(1 + n>>6); e != nil {
		l.ended, l.spent = e, true
		return false
	}
	l.ended = err
	return n > 0 || err == nil
}

// grow makes the buffer larger, for a line that does not fit in. A line that the machine has
// no memory for cannot be read.
func (l *lineReader) grow() bool {
	more := max(bufferSize, len(l.buf))
	if len(l.buf) > 0 {
		if err := l.p.Reserve(more); err != nil {
			l.r, l.w, l.ended = 0, 0, err
			return false
		}
	}
	l.buf = append(l.buf, make([]byte, more)...)
	return true
}

// next returns the next line with its end, which the last one may lack. It is valid up to the
// next call. ok is false when there is none.
func (l *lineReader) next() (line []byte, ok bool) {
	seen := 0
	for {
		if n := bytes.IndexByte(l.buf[l.r+seen:l.w], l.delim); n >= 0 {
			line = l.buf[l.r : l.r+seen+n+1]
			l.r += len(line)
			l.count++
			return line, true
		}
		seen = l.w - l.r
		if !l.fill() && l.ended != nil {
			if l.spent || l.w == l.r {
				return nil, false
			}
			line = l.buf[l.r:l.w]
			l.r = l.w
			l.count++
			return line, true
		}
	}
}

// bytes returns what is at hand, at least one byte.
func (l *lineReader) bytes() (b []byte, ok bool) {
	for l.r == l.w {
		if !l.fill() && l.ended != nil {
			return nil, false
		}
	}
	b = l.buf[l.r:l.w]
	l.r = l.w
	return b, true
}

// err returns why reading failed; nil for the end of the stream.
func (l *lineReader) err() error {
	if l.ended == nil || isEnd(l.ended) {
		return nil
	}
	return l.ended
}

// filesOrStdin returns the operands, or standard input when there are none.
func filesOrStdin(names []string) []string {
	if len(names) == 0 {
		return []string{"-"}
	}
	return names
}

// eachLine calls fn for each line of each file, with its end, which the last one may lack. What cannot
// be read is reported. It returns the exit status, and an error when the process has to end. fn
// returns false to stop.
func eachLine(p *shell.Proc, names []string, delim byte, fn func(line []byte) bool) (status int, ended error) {
	return eachLineOf(p, names, delim, (*shell.Proc).Error, fn)
}

// eachLineOf is eachLine for commands that report files in words of their own.
func eachLineOf(p *shell.Proc, names []string, delim byte, report func(p *shell.Proc, name string, err error), fn func(line []byte) bool) (status int, ended error) {
	l := newLineReader(p, nil, delim)
	for _, name := range filesOrStdin(names) {
		in, err := openInput(p, name)
		if err != nil {
			report(p, name, err)
			status = 1
			continue
		}
		l.reset(in)
		goOn := true
		for goOn {
			line, ok := l.next()
			if !ok {
				break
			}
			goOn = fn(line)
		}
		_ = in.Close()
		if l.spent {
			return p.Status(l.ended), l.ended
		}
		if err := l.err(); err != nil {
			report(p, name, err)
			status = 1
		}
		if !goOn {
			break
		}
	}
	return status, nil
}

// withoutEnd returns the line without its end.
func withoutEnd(line []byte, delim byte) []byte {
	if n := len(line); n > 0 && line[n-1] == delim {
		return line[:n-1]
	}
	return line
}
