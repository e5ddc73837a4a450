package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// host is what a script can reach outside of itself. Its calls come one at a time.
type host interface {
	call(ctx context.Context, op string, args json.RawMessage) (json.RawMessage, error)
}

// machine compiles and runs scripts; errors are *fault, or of the context.
type machine interface {
	compile(ctx context.Context, h host, o compileOrder) (*bundle, error)
	run(ctx context.Context, h host, o runOrder) (json.RawMessage, error)
}

// maxPrograms is how many compiled scripts a process keeps.
const maxPrograms = 64

// engine runs scripts in this process. It is safe for concurrent use.
type engine struct {
	mu       sync.Mutex
	programs map[string]*goja.Program
	// watch sees to the memory of one run until the function that it returns is called; nil: nobody does.
	watch func(limit int64, full func()) (stop func())
}

// compile makes a bundle and tries it: which hooks does it have.
func (e *engine) compile(ctx context.Context, h host, o compileOrder) (*bundle, error) {
	var mu sync.Mutex
	b, f := bundleOf(o.Entry, func(name string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		args, err := json.Marshal(name)
		if err != nil {
			return "", err
		}
		raw, err := h.call(ctx, "source", args)
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

// run calls one hook in a runtime of its own, so that nothing of a run is there for the next one.
func (e *engine) run(ctx context.Context, h host, o runOrder) (value json.RawMessage, err error) {
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
func (e *engine) program(id, code string) (*goja.Program, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p, ok := e.programs[id]; ok {
		return p, nil
	}
	// The bundle ends with a map of its own; no other is looked for, least of all in a file.
	tree, err := goja.Parse("hooks.js", code, parser.WithSourceMapLoader(func(string) ([]byte, error) { return nil, nil }))
	if err != nil {
		return nil, &fault{Kind: badCode, Text: clip(err.Error(), maxText)}
	}
	p, err := goja.CompileAST(tree, false)
	if err != nil {
		return nil, &fault{Kind: badCode, Text: clip(err.Error(), maxText)}
	}
	if e.programs == nil || len(e.programs) >= maxPrograms {
		e.programs = map[string]*goja.Program{}
	}
	e.programs[id] = p
	return p, nil
}

// has reports whether a script need not be sent.
func (e *engine) has(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.programs[id]
	return ok
}

// run is one runtime with its limits.
type run struct {
	rt     *goja.Runtime
	limits Limits
	clock  *clock
	stop   func() bool  // of the context's watch
	hooks  *goja.Object // the functions that the script has
	first  goja.Value   // ctx; nil: there is no request

	parse, stringify goja.Callable
	newError         *goja.Object

	mu    sync.Mutex
	ended *fault // why it was interrupted; the first counts
}

func newRun(ctx context.Context, l Limits) *run {
	r := &run{rt: goja.New(), limits: l}
	r.rt.SetMaxCallStackSize(l.Depth)
	// Code that eval compiles may name a file of this host as its source map, which would be read.
	r.rt.SetParserOptions(parser.WithDisableSourceMaps)
	r.clock = startClock(l.Time, func() { r.interrupt(tooLong) })
	r.stop = context.AfterFunc(ctx, func() { r.interrupt(canceled) })
	return r
}

// end starts to watch the memory, and returns what ends a run's watches.
func (r *run) end(watch func(int64, func()) func()) func() {
	stop := func() {}
	if watch != nil {
		stop = watch(r.limits.Memory, func() { r.interrupt(tooBig) })
	}
	return func() {
		stop()
		r.clock.stop()
		r.stop()
	}
}

// interrupt ends the script at its next step.
func (r *run) interrupt(k kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		r.ended = &fault{Kind: k}
	}
	r.rt.Interrupt(k)
}

func (r *run) interrupted() *fault {
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
		if f := r.interrupted(); f != nil && f.Kind == canceled {
			err = f
		}
	}()
	return r.fault(do())
}

// panicked is for what the engine does not turn into an error: its own faults, and Go's about sizes that cannot be.
func (r *run) panicked(x any) error {
	if err, ok := x.(error); ok {
		if f := (*fault)(nil); errors.As(r.fault(err), &f) && f.Kind != broken {
			return f
		}
	}
	return &fault{Kind: broken, Text: clip(fmt.Sprint(x), maxText), Thrown: Thrown{Stack: []string{clip(string(debug.Stack()), maxText)}}}
}
