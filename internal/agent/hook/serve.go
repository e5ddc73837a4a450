package hook

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Serve makes this process a worker of an [Engine]: it runs scripts that come over in until in ends, and bounds its own memory.
// A program calls it instead of all else that it does, with its stdin and stdout.
func Serve(in io.Reader, out io.Writer) error {
	w := &served{in: bufio.NewReaderSize(in, 64<<10), out: out}
	w.engine = engine{watch: watchMemory}
	debug.SetMaxStack(maxStack)
	for {
		f, err := readFrame(w.in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := writeFrame(w.out, frame{Done: w.obey(f)}); err != nil {
			return err
		}
	}
}

// maxStack is of one goroutine; it bounds recursion that is none of the script's functions, as in a parser.
const maxStack = 64 << 20

// served is the side of the host as a script in a worker sees it.
type served struct {
	mu     sync.Mutex // one call at a time
	in     io.Reader
	out    io.Writer
	engine engine
	bound  bool
}

// obey does one order.
func (w *served) obey(f frame) *outcome {
	var out outcome
	var err error
	switch {
	case f.Compile != nil:
		if err = w.confine(f.Compile.Limits.Memory); err == nil {
			out.Bundle, err = w.engine.compile(context.Background(), w, *f.Compile)
		}
	case f.Run != nil && f.Run.Code == "" && !w.engine.has(f.Run.ID):
		err = errors.New("a script that was not sent")
	case f.Run != nil:
		if err = w.confine(f.Run.Limits.Memory); err == nil {
			out.Value, err = w.engine.run(context.Background(), w, *f.Run)
		}
	default:
		err = errors.New("an order of no known kind")
	}
	if err != nil && !errors.As(err, &out.Fault) {
		out.Fault = &fault{Kind: broken, Text: err.Error()}
	}
	return &out
}

// confine bounds the memory of this process, once: what the limit cannot be below is what an engine needs for itself.
func (w *served) confine(limit int64) error {
	if w.bound || limit <= 0 {
		return nil
	}
	w.bound = true
	// What Go's runtime opens when it is first needed: the zone's file, and what it waits for timers with.
	_ = time.Now().Local().String()
	time.AfterFunc(time.Hour, func() {}).Stop()
	debug.SetMemoryLimit(limit + own)
	if err := bound(2*limit + room); err != nil {
		return sandbox.Errorf(sandbox.Unsupported, "this host does not bound a worker's memory: %w", err)
	}
	return nil
}

const (
	own  = 32 << 20  // bytes that an engine has for itself, and a compiler leaves
	room = 192 << 20 // bytes of address space that Go's runtime has mapped and does not use
)

// call asks the host.
func (w *served) call(_ context.Context, op string, args json.RawMessage) (json.RawMessage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := writeFrame(w.out, frame{Call: &hostCall{Op: op, Args: args}}); err != nil {
		return nil, err
	}
	f, err := readFrame(w.in)
	switch {
	case err != nil:
		return nil, err
	case f.Reply == nil:
		return nil, errors.New("no answer came")
	case f.Reply.Refusal != nil:
		return nil, f.Reply.Refusal
	}
	return f.Reply.Value, nil
}

// watchMemory sees to the memory of this process while a script runs: after each collection of garbage it looks at what
// is left. Nothing is polled, and a script that holds little costs nothing.
func watchMemory(limit int64, full func()) (stop func()) {
	if limit <= 0 {
		return func() {}
	}
	var done atomic.Bool
	var collected func(struct{})
	arm := func() { runtime.AddCleanup(&struct{ _ [16]byte }{}, collected, struct{}{}) }
	collected = func(struct{}) {
		if done.Load() {
			return
		}
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		if sample[0].Value.Uint64() > uint64(limit+own) {
			full()
			return
		}
		arm()
	}
	arm()
	return func() { done.Store(true) }
}
