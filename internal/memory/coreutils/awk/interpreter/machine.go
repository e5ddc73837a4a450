package interpreter

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Options configures the run of a program.
type Options struct {
	// Sources are the pieces of the program; Name is "cmd. line" or that of a file.
	Sources []Source
	// Assign are the var=value of -v; Separator is that of -F, nil for none.
	Assign    []string
	Separator *string
	Args      []string // ARGV behind the name
	Bytes     bool     // characters are bytes
	CSV       bool     // records and fields are those of RFC 4180
	InPlace   bool     // what is printed while a file is read replaces it
	// Strftime and Float are the conversions of strftime(3) and printf(3).
	Strftime func(format string, t time.Time, budget func(n int) bool) (text string, ok bool)
	Float    func(x float64, verb byte, prec int, alternate bool) string
	Zone     *time.Location
	// Take counts memory; its error ends the program.
	Take func(n int) error
}

// Source is a piece of a program.
type Source struct{ Name, Text string }

// ctl says how a statement has ended.
type ctl uint8

const (
	ctlGo ctl = iota
	ctlBreak
	ctlContinue
	ctlReturn
	ctlNext
	ctlNextFile
	ctlExit
)

// machine is a program that runs.
type machine struct {
	o    *Options
	p    *shell.Proc
	prog *program
	code *code

	globals []value
	garrays []*array
	vals    []value // scalars of functions that run
	fp      int
	arrs    []*array // their arrays
	ap      int
	ret     value
	depth   int
	status  int

	record
	convfmt, ofmt, ofs, ors, subsep string
	ignoreCase                      bool
	regexes                         regexCache
	streams
	key, buf []byte
	replaced []byte // a buffer of sub, gsub and gensub
	caps     []int
	tail     tail

	rng        *rand.Rand
	seed, prev float64
}

// fatal is an error that ends the program.
type fatal struct{ text string }

// stop is the end of the process.
type stop struct{ err error }

// unwind leaves functions that run inside an expression.
type unwind struct{ to ctl }

// maxCalls bounds the depth of recursion.
const maxCalls = 20000

func (m *machine) spend(n int) {
	if err := m.p.Spend(n); err != nil {
		panic(&stop{err})
	}
}

// grow counts memory that is going to be taken.
func (m *machine) grow(n int) {
	if m.o.Take == nil {
		return
	}
	if err := m.o.Take(n); err != nil {
		panic(&fatal{fmt.Sprintf("fatal: cannot allocate memory (%d bytes)", n)})
	}
}

// fatalAt ends the program with a message.
func (m *machine) fatalAt(pos int, format string, args ...any) {
	panic(&fatal{m.place(pos) + fmt.Sprintf(format, args...)})
}

// place returns the prefix of messages: the line of the program, and of the input.
func (m *machine) place(pos int) string {
	name, line := m.prog.position(pos)
	return fmt.Sprintf("%s:%d: ", name, line) + m.inputPlace()
}

func (m *machine) inputPlace() string {
	if m.nr == 0 {
		return ""
	}
	name := m.globals[slotFILENAME]
	file := m.text(&name, m.convfmt)
	if file == "" {
		file = "-"
	}
	return fmt.Sprintf("(FILENAME=%s FNR=%s) ", file, m.numberText(m.fnr, "%.6g"))
}

func (m *machine) warnAt(pos int, format string, args ...any) {
	m.flushOut()
	m.p.Warn("%s%s", m.place(pos), "warning: "+fmt.Sprintf(format, args...))
}

// Run runs a program and returns its exit status. Messages go to the process's Stderr.
func Run(p *shell.Proc, o *Options) int {
	prog := &program{}
	for _, s := range o.Sources {
		prog.sources = append(prog.sources, source{s.Name, len(prog.text)})
		prog.text += s.Text + "\n"
	}
	m := &machine{o: o, p: p, prog: prog}
	if status := m.prepare(); status != 0 {
		return status
	}
	return m.run()
}

// prepare parses and compiles the program.
func (m *machine) prepare() int {
	warn := func(pos int, text string) {
		name, line := m.prog.position(pos)
		m.p.Warn("%s:%d: %s", name, line, text)
	}
	err := parse(m.prog, warn, m.takeToken)
	if err == nil {
		m.regexes.bytes = m.o.Bytes
		m.code, err = compile(m)
	}
	if e, ok := errors.AsType[*syntaxError](err); ok {
		return m.syntax(e)
	}
	if errors.Is(err, syscall.ENOMEM) {
		m.p.Warn("fatal: cannot allocate memory (%d bytes)", len(m.prog.text))
		return 2
	}
	if err != nil {
		return m.p.Status(err)
	}
	return 0
}

// tokenMemory is what a token of a program takes at most, with the tree and the functions that are made of it.
const tokenMemory = 600

// takeToken takes the memory of a token, and fuel.
func (m *machine) takeToken() error {
	if m.o.Take != nil {
		if err := m.o.Take(tokenMemory); err != nil {
			return err
		}
	}
	return m.p.Spend(1)
}

// syntax reports errors in the program.
func (m *machine) syntax(e *syntaxError) int {
	name, line := m.prog.position(e.pos)
	if e.bare {
		m.p.Warn("%s:%d: %s", name, line, e.text)
		if len(e.text) > 6 && e.text[:6] == "fatal:" {
			return 2
		}
		return 1
	}
	begin := e.pos
	text := m.prog.text
	begin = min(begin, len(text))
	for begin > 0 && text[begin-1] != '\n' {
		begin--
	}
	end := begin
	for end < len(text) && text[end] != '\n' {
		end++
	}
	pad := make([]byte, min(e.pos, end)-begin) // bounded: by a line of the program
	for i := range pad {
		if pad[i] = ' '; text[begin+i] == '\t' {
			pad[i] = '\t'
		}
	}
	m.p.Warn("%s:%d: %s", name, line, text[begin:end])
	m.p.Warn("%s:%d: %s^ %s", name, line, pad, e.text)
	return 1
}

// run runs the compiled program to its end.
func (m *machine) run() (status int) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *fatal:
			m.abandon()
			m.p.Warn("%s", r.text)
			status = 2
		case *stop:
			m.abandon()
			status = m.p.Status(r.err)
		default:
			panic(r)
		}
	}()
	m.begin()
	c := m.protect(m.code.begin)
	if c != ctlExit && m.code.reads {
		m.protect((*machine).loop)
	}
	m.protect(m.code.end)
	m.closeInput()
	m.closeAll()
	if err := m.p.Context().Err(); err != nil { // What commands gave may lack its end.
		return m.p.Status(err)
	}
	return m.status
}

// protect runs a statement that a function may leave with next or exit.
func (m *machine) protect(f stmtCode) (c ctl) {
	if f == nil {
		return ctlGo
	}
	defer func() {
		if r := recover(); r != nil {
			u, ok := r.(*unwind)
			if !ok {
				panic(r)
			}
			m.depth, m.fp, m.ap = 0, 0, 0
			m.vals, m.arrs = m.vals[:0], m.arrs[:0]
			c = u.to
		}
	}()
	return f(m)
}

// begin sets the variables that a program starts with.
func (m *machine) begin() {
	m.globals = make([]value, m.code.scalars) // bounded: by the tokens of the program, which are charged
	m.garrays = make([]*array, m.code.arrays) // bounded: by the tokens of the program, which are charged
	for i := range m.garrays {
		m.garrays[i] = newArray()
	}
	m.regexes.bytes = m.o.Bytes
	m.openStreams()
	for slot, s := range map[int]string{
		slotFS: " ", slotOFS: " ", slotORS: "\n", slotRS: "\n", slotSUBSEP: "\x1c", slotCONVFMT: "%.6g",
		slotOFMT: "%.6g", slotFPAT: "[^[:space:]]+", slotTEXTDOMAIN: "messages",
	} {
		m.globals[slot] = textValue(s)
	}
	m.convfmt, m.ofmt, m.ofs, m.ors, m.subsep = "%.6g", "%.6g", " ", "\n", "\x1c"
	m.globals[slotRLENGTH] = numberValue(-1)
	m.globals[slotRSTART], m.globals[slotBINMODE] = numberValue(0), numberValue(0)
	m.globals[slotLINT], m.globals[slotIGNORECASE] = numberValue(0), numberValue(0)
	m.startRecord()
	m.fillArrays()
	for _, a := range m.o.Assign {
		m.assign(a, true)
	}
	if m.o.Separator != nil {
		m.globals[slotFS] = textValue(unescape(*m.o.Separator, nil))
		m.changed(slotFS)
	}
}

// seedRandom starts the random numbers; a program gets the same ones each time.
func (m *machine) seedRandom(seed float64) {
	m.prev, m.seed = m.seed, seed
	m.rng = rand.New(rand.NewPCG(uint64(int64(seed)), 0x9e3779b97f4a7c15)) //nolint:gosec // A program asks for these with rand().
}
