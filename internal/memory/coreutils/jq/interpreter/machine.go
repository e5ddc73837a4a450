package interpreter

import (
	"errors"
	"io"
	"strings"
	"time"
)

// Inputs gives a program its inputs.
type Inputs interface {
	// Next returns the next input; io.EOF at the end.
	Next() (Value, error)
	// File returns the name of the file that the last input came from, "" for none.
	File() string
	// Line returns how many lines of it were read.
	Line() int
}

// Options give a program access to its environment. A zero field gives none.
type Options struct {
	// Variables are $name for each name; Names has their order.
	Names     []string
	Variables map[string]Value
	// Environ is the environment as "NAME=value".
	Environ []string
	Inputs  Inputs
	Now     func() time.Time
	Zone    *time.Location // local time; nil: UTC
	Debug   func(v Value)  // takes what debug is called with, as an array
	Stderr  func(v Value)  // takes what stderr is called with
	// Spend takes fuel; an error ends the program.
	Spend func(n int) error
	// Hold takes n bytes of memory; an error ends the program.
	Hold func(n int) error
	// Module returns the text of a module, or the values of a data file as JSON texts,
	// and where it was found. from is where the importing one was found.
	Module func(path, from string, search []string, data bool) (content, found string, err error)
	// Dirs are the directories that are searched for modules, for get_search_list.
	Dirs []string
}

// machine runs a program.
type machine struct {
	o     Options
	gas   int
	depth int
	env   *Object
	held  int

	regexes map[regexKey]*regexCall // those that were compiled
}

const gasBatch = 256

// tick takes a unit of fuel.
func (vm *machine) tick() error {
	if vm.gas--; vm.gas >= 0 {
		return nil
	}
	vm.gas = gasBatch
	if vm.o.Spend == nil {
		return nil
	}
	return vm.o.Spend(gasBatch)
}

// hold takes n bytes of memory, and fuel for writing them.
func (vm *machine) hold(n int) error {
	vm.gas -= n >> 6
	vm.held += n
	if vm.held < 64<<10 || vm.o.Hold == nil {
		return nil
	}
	n, vm.held = vm.held, 0
	return vm.o.Hold(n)
}

// floatSize is the size of a number that is a Value.
const floatSize = 8

// collect appends v to the items of a new array, and takes the memory of the list, and of size bytes more for v, before it
// grows.
func (vm *machine) collect(items []Value, v Value, size int) ([]Value, error) {
	if len(items) >= maxArray {
		return items, errTooBig
	}
	vm.gas--
	if len(items) == cap(items) {
		if err := vm.hold(16 * (len(items) + 4)); err != nil {
			return items, err
		}
	}
	if size > 0 {
		if err := vm.hold(size); err != nil {
			return items, err
		}
	}
	return append(items, v), nil
}

// gather is collect for a list that usually has few items, which count nothing.
func (vm *machine) gather(items []Value, v Value) ([]Value, error) {
	if len(items) < 4 {
		return append(items, v), nil
	}
	return vm.collect(items, v, 0)
}

var errDeep = errors.New("too deep")

func (vm *machine) enter() error {
	if vm.depth++; vm.depth > maxDepth {
		vm.depth--
		return errDeep
	}
	return vm.tick()
}

func (vm *machine) leave() { vm.depth-- }

func (vm *machine) environ() *Object {
	if vm.env == nil {
		vm.env = NewObject()
		for _, kv := range vm.o.Environ {
			if k, v, ok := strings.Cut(kv, "="); ok {
				vm.env.put(k, v)
			}
		}
	}
	return vm.env
}

// Program is a compiled program.
type Program struct {
	vm   *machine
	main filter
	root *env
}

// tokenMemory is what a token of a program takes at most, with the tree and the functions that are made of it.
const tokenMemory = 400

// takeToken takes the memory of a token, and fuel.
func (vm *machine) takeToken() error {
	if err := vm.hold(tokenMemory); err != nil {
		return err
	}
	return vm.tick()
}

// Compile compiles a program. The error is a *CompileError, or why the process has to end.
func Compile(src string, o Options) (*Program, error) {
	vm := &machine{o: o}
	c := &compiler{vm: vm, src: src, builtin: map[string]*compiledFunc{}}
	m, err := parse(src, vm.takeToken)
	if _, ok := errors.AsType[*SyntaxError](err); ok {
		return nil, &CompileError{[]error{err}}
	}
	if err != nil {
		return nil, err
	}
	var root *env
	var s *scope
	for _, name := range o.Names {
		root = &env{up: root, val: o.Variables[name]}
		s = s.with(scopeVar, name)
	}
	l := &linker{c: c, loaded: map[string]*module{}}
	s, root = l.imports(s, root, m, "")
	for _, f := range m.defs {
		s = c.define(s, f)
	}
	body := m.body
	if body == nil {
		body = identity{}
	}
	main := c.expr(s, body)
	if c.ended != nil {
		return nil, c.ended
	}
	if len(c.errs) > 0 {
		return nil, &CompileError{c.errs}
	}
	return &Program{vm, main, root}, nil
}

// CompileError is an error in a program.
type CompileError struct{ Errs []error }

func (e *CompileError) Error() string {
	var all []string
	for _, err := range e.Errs {
		all = append(all, err.Error())
	}
	return strings.Join(all, "\n")
}

// ErrTooDeep is the error of a program whose functions call each other too deep.
var ErrTooDeep = errDeep

// Run runs the program on an input and calls out for each result. The error is an *Error of
// the program, a *Halt, that of out, or why the process has to end.
func (p *Program) Run(in Value, out func(Value) error) error {
	err := p.main.run(p.root, in, out)
	if _, ok := errors.AsType[*broken](err); ok {
		return &Error{"break"}
	}
	return err
}

// nextInput is input.
func (vm *machine) nextInput() (Value, error) {
	if vm.o.Inputs == nil {
		return nil, &Error{"No more inputs"}
	}
	v, err := vm.o.Inputs.Next()
	if errors.Is(err, io.EOF) {
		return nil, &Error{"No more inputs"}
	}
	if pe, ok := errors.AsType[*ParseError](err); ok {
		return nil, &Error{pe.Text}
	}
	return v, err
}
