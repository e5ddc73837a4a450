package interpreter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
)

// maxPrograms is how many compiled scripts a process keeps.
const maxPrograms = 64

// Interpreter compiles and runs scripts in this process; see [protocol.Machine]. The zero value is ready, and does not
// bound the memory of scripts. It is safe for concurrent use.
type Interpreter struct {
	mu       sync.Mutex
	programs map[string]*goja.Program
	// watch watches the memory of one run until the function that it returns is called; nil: memory is not watched.
	watch func(limit int64, full func()) (stop func())
}

// Compile makes a bundle of a source file and loads it to find its hooks.
func (e *Interpreter) Compile(ctx context.Context, h protocol.Host, o protocol.CompileOrder) (*protocol.Bundle, error) {
	var mu sync.Mutex
	b, f := bundleOf(o.Entry, func(name string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		args, err := json.Marshal(name)
		if err != nil {
			return "", err
		}
		raw, err := h.Call(ctx, "source", args)
		if err != nil {
			return "", err
		}
		var text string
		err = json.Unmarshal(raw, &text)
		return text, err
	})
	if f != nil {
		return nil, f
	}
	prg, err := e.program(b.ID, b.Code)
	if err != nil {
		return nil, err
	}
	r := newRun(ctx, o.Limits)
	defer r.end(e.watch)()
	err = r.protect(func() error {
		r.install(ctx, h, nil)
		if err := r.load(prg); err != nil {
			return err
		}
		for _, name := range hooks {
			if _, ok := goja.AssertFunction(r.hooks.Get(name)); ok {
				b.Exists = append(b.Exists, name)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Run calls one hook in a runtime of its own, so that nothing of a run is there for the next one.
func (e *Interpreter) Run(ctx context.Context, h protocol.Host, o protocol.RunOrder) (value json.RawMessage, err error) {
	prg, err := e.program(o.ID, o.Code)
	if err != nil {
		return nil, err
	}
	r := newRun(ctx, o.Limits)
	defer r.end(e.watch)()
	err = r.protect(func() error {
		r.install(ctx, h, &o.Setting)
		if err := r.load(prg); err != nil {
			return err
		}
		value, err = r.call(o)
		return err
	})
	return value, err
}

// program compiles a bundle, or has it already.
func (e *Interpreter) program(id, code string) (*goja.Program, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p, ok := e.programs[id]; ok {
		return p, nil
	}
	// The bundle ends with a map of its own; no other is looked for, least of all in a file.
	tree, err := goja.Parse("hooks.js", code, parser.WithSourceMapLoader(func(string) ([]byte, error) { return nil, nil }))
	if err != nil {
		return nil, &protocol.Fault{Kind: protocol.InvalidSource, Text: protocol.Clip(err.Error(), protocol.MaxText)}
	}
	p, err := goja.CompileAST(tree, false)
	if err != nil {
		return nil, &protocol.Fault{Kind: protocol.InvalidSource, Text: protocol.Clip(err.Error(), protocol.MaxText)}
	}
	if e.programs == nil || len(e.programs) >= maxPrograms {
		e.programs = map[string]*goja.Program{}
	}
	e.programs[id] = p
	return p, nil
}

// has reports whether a script need not be sent.
func (e *Interpreter) has(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.programs[id]
	return ok
}

// run is one runtime with its limits.
type run struct {
	rt     *goja.Runtime
	limits protocol.Limits
	clock  *protocol.Clock
	stop   func() bool  // of the context's watch
	hooks  *goja.Object // the functions that the script has
	first  goja.Value   // ctx; nil: there is no request

	parse, stringify goja.Callable
	newError         *goja.Object

	mu    sync.Mutex
	ended *protocol.Fault // why it was interrupted; the first counts
}

func newRun(ctx context.Context, l protocol.Limits) *run {
	r := &run{rt: goja.New(), limits: l}
	r.rt.SetMaxCallStackSize(l.Depth)
	// Code that eval compiles may name a file of this host as its source map, which would be read.
	r.rt.SetParserOptions(parser.WithDisableSourceMaps)
	r.clock = protocol.StartClock(l.Time, func() { r.interrupt(protocol.TimeExceeded) })
	r.stop = context.AfterFunc(ctx, func() { r.interrupt(protocol.Canceled) })
	return r
}

// end starts to watch the memory, and returns what ends a run's watches.
func (r *run) end(watch func(int64, func()) func()) func() {
	stop := func() {}
	if watch != nil {
		stop = watch(r.limits.Memory, func() { r.interrupt(protocol.MemoryExceeded) })
	}
	return func() {
		stop()
		r.clock.Stop()
		r.stop()
	}
}

// interrupt ends the script at its next step.
func (r *run) interrupt(k protocol.Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		r.ended = &protocol.Fault{Kind: k}
	}
	r.rt.Interrupt(k)
}

func (r *run) interrupted() *protocol.Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// protect calls what runs the script, and makes a fault of all that goes wrong in it.
func (r *run) protect(do func() error) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = r.panicked(x)
		}
		// An interrupt may come between two calls of the engine, or be lost with the last of them.
		if f := r.interrupted(); f != nil && f.Kind == protocol.Canceled {
			err = f
		}
	}()
	return r.fault(do())
}

// panicked is for what the engine does not turn into an error: its own faults, and Go's about sizes that cannot be.
func (r *run) panicked(x any) error {
	if err, ok := x.(error); ok {
		if f := (*protocol.Fault)(nil); errors.As(r.fault(err), &f) && f.Kind != protocol.EngineFailed {
			return f
		}
	}
	return &protocol.Fault{Kind: protocol.EngineFailed, Text: protocol.Clip(fmt.Sprint(x), protocol.MaxText), Thrown: protocol.Thrown{Stack: []string{protocol.Clip(string(debug.Stack()), protocol.MaxText)}}}
}
