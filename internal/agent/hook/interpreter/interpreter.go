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

// maxPrograms is the number of compiled scripts that a process caches.
const maxPrograms = 64

// Interpreter compiles and runs scripts in this process; see [protocol.Machine]. The zero value is ready to use and does not
// limit the memory of scripts. It is safe for concurrent use.
type Interpreter struct {
	mu       sync.Mutex
	programs map[string]*goja.Program
	// watch monitors the memory of one run until the caller calls the returned function; nil: memory is not monitored.
	watch func(limit int64, full func()) (stop func())
}

// Compile bundles a source file and loads the bundle to find its hooks.
func (e *Interpreter) Compile(ctx context.Context, h protocol.Host, o protocol.CompileOrder) (*protocol.Bundle, error) {
	var mu sync.Mutex
	b, f := bundleFiles(o.Entry, func(name string) (string, error) {
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

// Run calls one hook in a new runtime, so that runs share no state.
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

// program compiles a bundle, or returns the cached program.
func (e *Interpreter) program(id, code string) (*goja.Program, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p, ok := e.programs[id]; ok {
		return p, nil
	}
	// The bundle ends with its own source map; disable loading any other.
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

// has reports whether the script is cached, so that the host need not send it.
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
	stop   func() bool  // stops watching the context
	hooks  *goja.Object // the script's hooks
	first  goja.Value   // ctx; nil: no request

	parse, stringify goja.Callable
	newError         *goja.Object

	mu    sync.Mutex
	ended *protocol.Fault // why the script was interrupted; the first reason counts
}

func newRun(ctx context.Context, l protocol.Limits) *run {
	r := &run{rt: goja.New(), limits: l}
	r.rt.SetMaxCallStackSize(l.Depth)
	// Code passed to eval may name a host file as its source map; the engine would read it.
	r.rt.SetParserOptions(parser.WithDisableSourceMaps)
	r.clock = protocol.StartClock(l.Time, func() { r.interrupt(protocol.TimeExceeded) })
	r.stop = context.AfterFunc(ctx, func() { r.interrupt(protocol.Canceled) })
	return r
}

// end starts the memory monitor and returns a function that stops the run's monitors.
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

// interrupt stops the script at its next step.
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

// protect calls f, which runs the script, and converts every failure to a fault.
func (r *run) protect(do func() error) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = r.panicked(x)
		}
		// An interrupt may arrive between two calls of the engine, or be lost with the last one.
		if f := r.interrupted(); f != nil && f.Kind == protocol.Canceled {
			err = f
		}
	}()
	return r.fault(do())
}

// panicked converts panics that the engine does not return as errors: its own bugs, and Go's run-time errors for impossible sizes.
func (r *run) panicked(x any) error {
	if err, ok := x.(error); ok {
		if f := (*protocol.Fault)(nil); errors.As(r.fault(err), &f) && f.Kind != protocol.EngineFailed {
			return f
		}
	}
	return &protocol.Fault{Kind: protocol.EngineFailed, Text: protocol.Clip(fmt.Sprint(x), protocol.MaxText), Thrown: protocol.Thrown{Stack: []string{protocol.Clip(string(debug.Stack()), protocol.MaxText)}}}
}
