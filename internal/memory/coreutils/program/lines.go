package program

import (
	"bytes"
	"io"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// LineReader reads lines, or blocks of whole lines, from a stream. It takes fuel for
// what it reads.
type LineReader struct {
	p     *shell.Proc
	in    io.Reader
	delim byte

	buf   []byte
	r, w  int
	Ended error // io.EOF, why reading failed, or why the process has to end
	Spent bool  // ended is the process's
	Count int   // lines that next has returned
}

// NewLineReader returns a reader of the lines of in that end with delim. The process pays for what it reads.
func NewLineReader(p *shell.Proc, in io.Reader, delim byte) *LineReader {
	return &LineReader{p: p, in: in, delim: delim}
}

// Reset goes on with another stream, with the same buffer.
func (l *LineReader) Reset(in io.Reader) {
	l.in, l.r, l.w = in, 0, 0
	if !l.Spent {
		l.Ended = nil
	}
}

// fill appends more input to the buffer. It returns false at the end.
func (l *LineReader) fill() bool {
	if l.Ended != nil {
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
		l.Ended, l.Spent = e, true
		return false
	}
	l.Ended = err
	return n > 0 || err == nil
}

// grow makes the buffer larger, for a line that does not fit in. A line that the machine has
// no memory for cannot be read.
func (l *LineReader) grow() bool {
	more := max(BufferSize, len(l.buf))
	if len(l.buf) > 0 {
		if err := l.p.Reserve(more); err != nil {
			l.r, l.w, l.Ended = 0, 0, err
			return false
		}
	}
	l.buf = append(l.buf, make([]byte, more)...)
	return true
}

// Next returns the next line with its end, which the last one may lack. It is valid up to the
// next call. ok is false when there is none.
func (l *LineReader) Next() (line []byte, ok bool) {
	seen := 0
	for {
		if n := bytes.IndexByte(l.buf[l.r+seen:l.w], l.delim); n >= 0 {
			line = l.buf[l.r : l.r+seen+n+1]
			l.r += len(line)
			l.Count++
			return line, true
		}
		seen = l.w - l.r
		if !l.fill() && l.Ended != nil {
			if l.Spent || l.w == l.r {
				return nil, false
			}
			line = l.buf[l.r:l.w]
			l.r = l.w
			l.Count++
			return line, true
		}
	}
}

// Bytes returns what is at hand, at least one byte.
func (l *LineReader) Bytes() (b []byte, ok bool) {
	for l.r == l.w {
		if !l.fill() && l.Ended != nil {
			return nil, false
		}
	}
	b = l.buf[l.r:l.w]
	l.r = l.w
	return b, true
}

// Err returns why reading failed; nil for the end of the stream.
func (l *LineReader) Err() error {
	if l.Ended == nil || IsEnd(l.Ended) {
		return nil
	}
	return l.Ended
}

// FilesOrStdin returns the operands, or standard input when there are none.
func FilesOrStdin(names []string) []string {
	if len(names) == 0 {
		return []string{"-"}
	}
	return names
}

// EachLine calls fn for each line of each file, with its end, which the last one may lack. What cannot
// be read is reported. It returns the exit status, and an error when the process has to end. fn
// returns false to stop.
func EachLine(p *shell.Proc, names []string, delim byte, fn func(line []byte) bool) (status int, ended error) {
	return EachLineOf(p, names, delim, (*shell.Proc).Error, fn)
}

// EachLineOf is EachLine for commands that report files in words of their own.
func EachLineOf(p *shell.Proc, names []string, delim byte, report func(p *shell.Proc, name string, err error), fn func(line []byte) bool) (status int, ended error) {
	l := NewLineReader(p, nil, delim)
	for _, name := range FilesOrStdin(names) {
		in, err := OpenInput(p, name)
		if err != nil {
			report(p, name, err)
			status = 1
			continue
		}
		l.Reset(in)
		goOn := true
		for goOn {
			line, ok := l.Next()
			if !ok {
				break
			}
			goOn = fn(line)
		}
		_ = in.Close()
		if l.Spent {
			return p.Status(l.Ended), l.Ended
		}
		if err := l.Err(); err != nil {
			report(p, name, err)
			status = 1
		}
		if !goOn {
			break
		}
	}
	return status, nil
}

// ReadList returns the lines of in without their ends. The machine counts what they take.
func ReadList(p *shell.Proc, in io.Reader, delim byte) (list []string, err error) {
	l := NewLineReader(p, in, delim)
	for {
		line, ok := l.Next()
		if !ok {
			if l.Spent {
				return nil, l.Ended
			}
			return list, l.Err()
		}
		line = WithoutEnd(line, delim)
		if err := p.Reserve(len(line) + 8); err != nil {
			return nil, err
		}
		if list, err = Append(p, list, string(line)); err != nil {
			return nil, err
		}
	}
}

// ReadListFile is ReadList for a file, "-" being standard input.
func ReadListFile(p *shell.Proc, name string, delim byte) ([]string, error) {
	in, err := OpenInput(p, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return ReadList(p, in, delim)
}

// WithoutEnd returns the line without its end.
func WithoutEnd(line []byte, delim byte) []byte {
	if n := len(line); n > 0 && line[n-1] == delim {
		return line[:n-1]
	}
	return line
}
