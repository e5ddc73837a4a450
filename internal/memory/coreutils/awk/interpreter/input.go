package interpreter

import (
	"bufio"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// loop runs the rules for each record of the input.
func (m *machine) loop() ctl {
	body := m.code.main
	for {
		if !m.nextRecord() {
			return ctlGo
		}
		if body == nil {
			continue
		}
		var c ctl
		if m.code.leaves {
			c = m.protect(body)
		} else {
			c = body(m)
		}
		switch c {
		case ctlNextFile:
			m.skipFile()
		case ctlExit:
			return ctlExit
		default:
		}
	}
}

// nextRecord reads the next record of the input into $0.
func (m *machine) nextRecord() bool {
	rec, ok := m.nextMain()
	if ok {
		m.setRecord(rec)
	}
	return ok
}

// nextMain reads the next record of the input, and counts it.
func (m *machine) nextMain() (rec string, ok bool) {
	for {
		if m.main == nil && !m.nextFile() {
			return "", false
		}
		rec, end, ok := m.main.next()
		if ok {
			m.nr++
			m.fnr++
			m.spend(1)
			m.globals[slotRT] = value{s: end, k: input}
			return rec, true
		}
		if err := m.main.failed(); err != nil {
			m.inputFailed(err)
		}
		m.endFile()
	}
}

func (m *machine) inputFailed(err error) {
	name := m.text(&m.globals[slotFILENAME], m.convfmt)
	if shell.Errno(err) == syscall.EISDIR {
		m.flushOut()
		m.p.Warn("warning: command line argument `%s' is a directory: skipped", name)
		return
	}
	panic(&fatal{"fatal: error reading input file `" + name + "': " + shell.Strerror(err)})
}

// nextFile opens the next file operand; standard input when there is none.
func (m *machine) nextFile() bool {
	for !m.over {
		name, ok := m.nextOperand()
		if !ok {
			m.over = true
			if m.started {
				return false
			}
			name = "-"
			m.globals[slotFILENAME] = value{}
		} else {
			m.globals[slotFILENAME] = inputValue(name)
		}
		m.started = true
		if m.openMain(name) {
			return true
		}
	}
	return false
}

// nextOperand returns the next file of ARGV; assignments on the way are made.
func (m *machine) nextOperand() (name string, ok bool) {
	argv := m.garrays[arrayARGV]
	for {
		argc := m.globals[slotARGC]
		if float64(m.argAt) >= argc.number() {
			return "", false
		}
		e := argv.find(strconv.Itoa(m.argAt))
		m.argAt++
		if m.spend(1); e == nil {
			continue
		}
		arg := m.text(&e.value, m.convfmt)
		if arg == "" || strings.Contains(arg, "=") && m.assign(arg, false) {
			continue
		}
		m.globals[slotARGIND] = numberValue(float64(m.argAt - 1))
		return arg, true
	}
}

// openMain begins to read a file; false when it was skipped.
func (m *machine) openMain(name string) bool {
	r, err := m.openReader(name)
	m.fnr = 0
	if err == nil && name != "-" {
		if info, e := m.p.Stat(name); e == nil && info.Mode.IsDir() {
			err = syscall.EISDIR
			_ = r.close()
		}
	}
	m.globals[slotERRNO] = textValue("")
	if err != nil {
		m.globals[slotERRNO] = textValue(shell.Strerror(err))
		if m.code.beginFile == nil {
			return m.cannotOpen(name, err)
		}
	}
	m.main = r
	if err != nil {
		m.main = nil
	} else if m.o.InPlace && name != "-" {
		m.replaceFile(name)
	}
	switch m.protect(m.code.beginFile) {
	case ctlNextFile:
		if err == nil {
			m.skipFile()
		}
		return false
	case ctlExit:
		panic(&unwind{ctlExit})
	default:
	}
	if err != nil {
		return m.cannotOpen(name, err)
	}
	return true
}

func (m *machine) cannotOpen(name string, err error) bool {
	if shell.Errno(err) == syscall.EISDIR {
		m.flushOut()
		m.p.Warn("warning: command line argument `%s' is a directory: skipped", name)
		return false
	}
	panic(&fatal{"fatal: cannot open file `" + name + "' for reading: " + shell.Strerror(err)})
}

// endFile ends the file that was read.
func (m *machine) endFile() {
	if c := m.protect(m.code.endFile); c == ctlExit {
		panic(&unwind{ctlExit})
	}
	m.closeInput()
}

// skipFile ends the file that is read.
func (m *machine) skipFile() {
	if m.main != nil {
		m.endFile()
	}
}

// closeInput closes the file that is read.
func (m *machine) closeInput() {
	if m.main == nil {
		return
	}
	_ = m.main.close()
	m.main = nil
	if m.target != nil {
		m.finishReplacing()
	}
}

// replaceFile collects the output from now on, which replaces the input file in the end.
func (m *machine) replaceFile(name string) {
	m.flushOut()
	var b strings.Builder
	w := &writer{}
	text := &boundedText{m: m, b: &b}
	saved := m.out
	m.out = bufio.NewWriterSize(text, outSize)
	w.w = m.out
	w.close = func() int {
		_ = m.out.Flush()
		m.out = saved
		f, err := m.p.Create(name)
		if err == nil {
			_, err = f.Write([]byte(b.String()))
			if e := f.Close(); err == nil {
				err = e
			}
		}
		if err != nil {
			panic(&fatal{"fatal: inplace::end: cannot write `" + name + "': " + shell.Strerror(err)})
		}
		return 0
	}
	m.target = w
}

func (m *machine) finishReplacing() {
	w := m.target
	m.target = nil
	w.close()
}

// boundedText is a writer to b that counts the bytes in the memory of m.
type boundedText struct {
	m *machine
	b *strings.Builder
}

func (t *boundedText) Write(p []byte) (int, error) {
	t.m.grow(len(p))
	return t.b.Write(p)
}
