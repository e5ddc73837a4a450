package sed

import (
	"bufio"
	"io"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// sedOutput is a file that is written to.
type sedOutput struct {
	*bufio.Writer
	name   string
	closer io.Closer
	open   bool // the last line lacks its end, which it gets when more follows
}

// end gives the last line its end when it lacks one.
func (o *sedOutput) end(delim byte) {
	if o.open {
		_ = o.WriteByte(delim) // The error stays in the writer.
		o.open = false
	}
}

// line writes a line, with its end if it has one.
func (o *sedOutput) line(b []byte, complete bool, delim byte) {
	if o.open {
		o.end(delim)
	}
	_, _ = o.Write(b)
	if complete {
		_ = o.WriteByte(delim)
	}
	o.open = !complete
}

// outputTo returns the file of that name; it is opened once.
func (s *sed) outputTo(name string) (*sedOutput, error) {
	for _, o := range s.outputs {
		if o.name == name {
			return o, nil
		}
	}
	o := &sedOutput{name: name}
	switch name {
	case "/dev/stdout":
		o.Writer = s.stdout.Writer
	case "/dev/stderr":
		o.Writer = bufio.NewWriter(s.p.Stderr)
	default:
		if err := s.p.Reserve(sedFileBuffer); err != nil {
			return nil, err
		}
		f, err := s.p.Create(name)
		if err != nil {
			return nil, err
		}
		o.Writer, o.closer = bufio.NewWriterSize(f, sedFileBuffer), f
	}
	s.outputs = append(s.outputs, o)
	return o, nil
}

// sedFileBuffer is smaller than others: there may be a file for each command.
const sedFileBuffer = 4 << 10

// flushAll writes the buffered output, before something else may look at it.
func (s *sed) flushAll() {
	_ = s.stdout.Flush()
	s.flushFiles()
}

// flushFiles writes the buffered output for files.
func (s *sed) flushFiles() {
	for _, o := range s.outputs {
		if err := o.Flush(); err != nil && s.status != sedPanic {
			s.panic("couldn't write to %s: %s", o.name, shell.Strerror(err))
		}
	}
	if s.main != s.stdout {
		_ = s.main.Flush()
	}
}

func (s *sed) closeFiles() {
	s.flushFiles()
	for _, o := range s.outputs {
		if o.closer != nil {
			_ = o.closer.Close()
		}
	}
	for _, l := range s.readers {
		if l.in != nil {
			_ = l.in.Close()
		}
	}
	s.outputs, s.readers = nil, nil
}

// sedLines gives the lines of a file to R one by one.
type sedLines struct {
	name   string
	in     io.ReadCloser
	lines  *program.LineReader
	opened bool
}

// linesOf returns the lines of the file of that name, which commands share.
func (s *sed) linesOf(name string) *sedLines {
	for _, l := range s.readers {
		if l.name == name {
			return l
		}
	}
	l := &sedLines{name: name}
	s.readers = append(s.readers, l) // bounded: an instruction of the script, which is charged, has one
	return l
}

// next returns the next line with its end. A file that is not there has none.
func (l *sedLines) next(s *sed) (line []byte, ok bool) {
	if !l.opened {
		l.opened = true
		in, err := s.openAside(l.name)
		if err != nil {
			return nil, false
		}
		if s.p.Reserve(program.BufferSize) != nil {
			_ = in.Close()
			s.panic(sedErrMemory)
			return nil, false
		}
		l.in, l.lines = in, program.NewLineReader(s.p, in, s.delim)
	}
	if l.lines == nil {
		return nil, false
	}
	return l.lines.Next()
}

// openAside opens a file for r and R.
func (s *sed) openAside(name string) (io.ReadCloser, error) {
	if name == "/dev/stdin" {
		return io.NopCloser(s.p.Stdin), nil
	}
	f, err := s.p.Open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// sedAppend is something to be written at the end of the cycle.
type sedAppend struct {
	text []byte
	file string
	raw  bool // text is a line of R
}

// later notes what is to be written at the end of the cycle.
func (s *sed) later(a sedAppend) {
	list, err := program.Append(s.p, s.appends, a)
	if err == nil && a.raw {
		err = s.p.Reserve(len(a.text))
		s.heldLines += len(a.text)
	}
	if err != nil {
		s.panic(sedErrMemory)
		return
	}
	s.appends = list
}

// flushAppends writes what a, r and R have asked for.
func (s *sed) flushAppends() {
	for i := range s.appends {
		if !s.spend(1) {
			break
		}
		a := &s.appends[i]
		s.main.end(s.delim)
		if a.file == "" {
			_, _ = s.main.Write(a.text)
			continue
		}
		s.copyFile(a.file)
	}
	s.appends = s.appends[:0]
	s.p.Release(s.heldLines)
	s.heldLines = 0
}

// copyFile writes a whole file; one that cannot be read is empty.
func (s *sed) copyFile(name string) {
	in, err := s.openAside(name)
	if err != nil {
		return
	}
	defer in.Close()
	buf := make([]byte, program.BufferSize)
	for s.ended == nil {
		n, err := in.Read(buf)
		_, _ = s.main.Write(buf[:n])
		if err != nil && !program.IsEnd(err) {
			s.panic("read error on %s: %s", name, shell.Strerror(err))
		}
		if s.spend(1 + n>>6); err != nil || s.hasOutputFailed() {
			return
		}
	}
}

// hasOutputFailed reports whether the output has no reader.
func (s *sed) hasOutputFailed() bool {
	_, err := s.main.Write(nil)
	return err != nil
}
