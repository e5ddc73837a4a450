package interpreter

import (
	"bufio"
	"io"
	"os"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// streams are the files and commands that a program has open, by their names.
type streams struct {
	out     *bufio.Writer // standard output
	outputs map[string]*writer
	inputs  map[string]*reader
	both    map[string]*coprocess
	target  *writer // the file that is being replaced, for -i inplace
}

// writer is a file or a command that is written to.
type writer struct {
	kind  byte
	w     *bufio.Writer
	close func() int
	err   error
}

// coprocess is a command that is written to and read from.
type coprocess struct {
	w     *writer // nil when it was closed
	r     *reader
	child *shell.Child
}

const outSize = 64 << 10

// maxStreams bounds how many files and commands are open at once.
const maxStreams = 1000

func (m *machine) openStreams() {
	m.out = bufio.NewWriterSize(m.p.Stdout, outSize)
	m.outputs, m.inputs, m.both = map[string]*writer{}, map[string]*reader{}, map[string]*coprocess{}
}

// flushOut writes the buffered output; a pipe without readers ends the program.
func (m *machine) flushOut() {
	if err := m.out.Flush(); err != nil {
		m.outFailed(err)
	}
}

func (m *machine) outFailed(err error) {
	m.out.Reset(io.Discard)
	if m.p.Status(err) != 1 {
		panic(&stop{err})
	}
	panic(&fatal{m.place(0) + "fatal: print to \"standard output\" failed: " + shell.Strerror(err)})
}

// flushAll writes the buffered output, before another process runs.
func (m *machine) flushAll() {
	m.flushOut()
	for _, w := range m.outputs {
		m.flush(w)
	}
	for _, c := range m.both {
		if c.w != nil {
			m.flush(c.w)
		}
	}
}

func (m *machine) flush(w *writer) {
	if err := w.w.Flush(); err != nil && w.err == nil {
		w.err = err
	}
}

// start runs a command with the shell. It takes ownership of its arguments, an end of a pipe each.
func (m *machine) start(command string, in, out *vfs.File, pos int) *shell.Child {
	s := shell.Spawn{Args: []string{"sh", "-c", command}}
	if in != nil {
		s.Stdin = in
	}
	if out != nil {
		s.Stdout = out
	}
	m.spend(16)
	child, err := m.p.Start(s)
	for _, f := range []*vfs.File{in, out} {
		if f != nil { // The child has its own.
			_ = f.Close()
		}
	}
	if err != nil {
		m.fatalAt(pos, "fatal: cannot open pipe `%s': %s", command, shell.Strerror(err))
	}
	return child
}

// system runs a command and waits for it.
func (m *machine) system(command string) int {
	m.flushAll()
	m.spend(16)
	status := m.p.Run(shell.Spawn{Args: []string{"sh", "-c", command}})
	m.spend(1)
	return status
}

// output returns the stream that a print is redirected to.
func (m *machine) output(kind byte, name string, pos int) *writer {
	if w := m.outputs[name]; w != nil {
		return w
	}
	if name == "" {
		m.fatalAt(pos, "fatal: expression for `%s' redirection has null string value", redirection(kind))
	}
	m.checkStreams(pos)
	m.grow(outSize)
	w := &writer{kind: kind}
	switch kind {
	case '&':
		c := m.coprocess(name, pos)
		if c.w == nil {
			m.fatalAt(pos, "fatal: print to \"%s\" failed: the pipe is closed", name)
		}
		return c.w
	case '|':
		m.flushAll()
		r, end := vfs.Pipe()
		child := m.start(name, r, nil, pos)
		w.w = bufio.NewWriterSize(end.WithContext(m.p.Context()), outSize)
		w.close = func() int {
			_ = end.Close()
			return child.Wait()
		}
	default:
		m.openFile(w, kind, name, pos)
	}
	m.outputs[name] = w
	return w
}

func (m *machine) openFile(w *writer, kind byte, name string, pos int) {
	switch name {
	case "/dev/stdout", "-":
		w.w, w.close = m.out, func() int { return 0 }
		return
	case "/dev/stderr":
		w.w, w.close = bufio.NewWriterSize(m.p.Stderr, 16), func() int { return 0 }
		w.kind = 'e'
		return
	}
	flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if kind == 'a' {
		flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	f, err := m.p.OpenFile(name, flag, 0o666)
	if err != nil {
		m.fatalAt(pos, "fatal: cannot redirect to `%s': %s", name, shell.Strerror(err))
	}
	w.w = bufio.NewWriterSize(f, outSize)
	w.close = func() int {
		if f.Close() != nil {
			return -1
		}
		return 0
	}
}

func redirection(kind byte) string {
	switch kind {
	case 'a':
		return ">>"
	case '&':
		return "|&"
	}
	return string(kind)
}

func (m *machine) checkStreams(pos int) {
	if len(m.outputs)+len(m.inputs)+len(m.both) >= maxStreams {
		m.fatalAt(pos, "fatal: too many pipes or input files open")
	}
}

// wrote ends a print to a stream.
func (m *machine) wrote(w *writer, err error, pos int) {
	if err == nil && (w.kind == 'e' || w.kind == '&') {
		err = w.w.Flush()
	}
	if err == nil {
		return
	}
	if w.w == m.out {
		m.outFailed(err)
	}
	if w.kind == '|' || w.kind == '&' {
		if m.p.Context().Err() != nil {
			panic(&stop{err})
		}
		w.w.Reset(io.Discard) // The command has ended: drop the rest, as after SIGPIPE.
		m.status = 2
		return
	}
	if m.p.Context().Err() != nil {
		panic(&stop{err})
	}
	m.fatalAt(pos, "fatal: print failed: %s", shell.Strerror(err))
}

// inputFile returns the file that getline reads.
func (m *machine) inputFile(name string, pos int) *reader {
	if r := m.inputs[name]; r != nil {
		return r
	}
	m.checkStreams(pos)
	r, err := m.openReader(name)
	if err != nil {
		m.globals[slotERRNO] = textValue(shell.Strerror(err))
		return nil
	}
	m.grow(readSize)
	m.inputs[name] = r
	return r
}

func (m *machine) openReader(name string) (*reader, error) {
	if name == "-" || name == "/dev/stdin" {
		return &reader{m: m, in: m.p.Stdin, close: func() int { return 0 }}, nil
	}
	f, err := m.p.Open(name)
	if err != nil {
		return nil, err
	}
	return &reader{m: m, in: f, close: func() int {
		if f.Close() != nil {
			return -1
		}
		return 0
	}}, nil
}

// command returns the command that getline reads.
func (m *machine) command(name string, pos int) *reader {
	if r := m.inputs[name]; r != nil {
		return r
	}
	m.checkStreams(pos)
	m.flushAll()
	begin, w := vfs.Pipe()
	child := m.start(name, nil, w, pos)
	r := &reader{m: m, in: begin.WithContext(m.p.Context()), close: func() int {
		_ = begin.Close()
		return child.Wait()
	}}
	m.inputs[name] = r // bounded: by the limit of open streams
	return r
}

// coprocess returns the command of "|&".
func (m *machine) coprocess(name string, pos int) *coprocess {
	if c := m.both[name]; c != nil {
		return c
	}
	m.checkStreams(pos)
	m.flushAll()
	toR, toW := vfs.Pipe()
	fromR, fromW := vfs.Pipe()
	child := m.start(name, toR, fromW, pos)
	ctx := m.p.Context()
	c := &coprocess{child: child}
	c.w = &writer{kind: '&', w: bufio.NewWriterSize(toW.WithContext(ctx), outSize), close: func() int { return b2i(toW.Close() != nil) }}
	c.r = &reader{m: m, in: fromR.WithContext(ctx), close: func() int {
		_ = fromR.Close()
		return child.Wait()
	}}
	m.both[name] = c // bounded: by the limit of open streams
	return c
}

// closeStream closes the streams open under a name; how is "to", "from" or empty. -1: there were none.
func (m *machine) closeStream(name, how string) int {
	status := -1
	if w := m.outputs[name]; w != nil && how == "" {
		delete(m.outputs, name)
		m.flush(w)
		status = w.close()
	}
	if r := m.inputs[name]; r != nil && how == "" {
		delete(m.inputs, name)
		status = r.close()
	}
	if c := m.both[name]; c != nil {
		status = m.closeBoth(name, c, how)
	}
	m.spend(1)
	return status
}

func (m *machine) closeBoth(name string, c *coprocess, how string) (status int) {
	if c.w != nil && how != "from" {
		m.flush(c.w)
		status = c.w.close()
		c.w = nil
	}
	if how != "to" {
		if c.w != nil {
			m.flush(c.w)
			_ = c.w.close()
			c.w = nil
		}
		delete(m.both, name)
		status = c.r.close()
	}
	return status
}

// closeAll closes all streams at the end.
func (m *machine) closeAll() {
	// Files first: commands may read them.
	for _, commands := range []bool{false, true} {
		for name, w := range m.outputs {
			if (w.kind == '|') == commands {
				delete(m.outputs, name)
				m.flush(w)
				_ = w.close()
			}
		}
	}
	for name, r := range m.inputs {
		delete(m.inputs, name)
		_ = r.close()
	}
	for name, c := range m.both {
		_ = m.closeBoth(name, c, "")
	}
	m.flushOut()
}

// abandon closes all streams after an error.
func (m *machine) abandon() {
	if m.out == nil {
		return
	}
	_ = m.out.Flush()
	m.out.Reset(io.Discard)
	for _, w := range m.outputs {
		_ = w.w.Flush()
		if w.close != nil {
			_ = w.close()
		}
	}
	for _, r := range m.inputs {
		_ = r.close()
	}
	for _, c := range m.both {
		if c.w != nil {
			_ = c.w.w.Flush()
			_ = c.w.close()
		}
		_ = c.r.close()
	}
}
