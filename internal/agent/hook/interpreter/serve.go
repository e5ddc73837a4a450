package interpreter

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

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Serve makes this process a hook worker: it runs the orders from in until in ends, and permanently limits its own
// memory and descriptors. A program calls it with its stdin and stdout and does nothing else.
func Serve(in io.Reader, out io.Writer) error {
	w := &served{in: bufio.NewReaderSize(in, 64<<10), out: out}
	w.interpreter = Interpreter{watch: watchMemory}
	debug.SetMaxStack(maxStack)
	for {
		f, err := protocol.ReadFrame(w.in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := protocol.WriteFrame(w.out, protocol.Frame{Done: w.obey(f)}); err != nil {
			return err
		}
	}
}

// maxStack is the stack limit of a goroutine; it bounds Go recursion, as in a parser, that the depth limit of scripts does not count.
const maxStack = 64 << 20

// served implements the host for a script in a worker.
type served struct {
	mu          sync.Mutex // one call at a time
	in          io.Reader
	out         io.Writer
	interpreter Interpreter
	bound       bool
}

// obey runs one order.
func (w *served) obey(f protocol.Frame) *protocol.Outcome {
	var out protocol.Outcome
	var err error
	switch {
	case f.Compile != nil:
		if err = w.confine(f.Compile.Limits.Memory); err == nil {
			out.Bundle, err = w.interpreter.Compile(context.Background(), w, *f.Compile)
		}
	case f.Run != nil && f.Run.Code == "" && !w.interpreter.has(f.Run.ID):
		err = errors.New("a script that was not sent")
	case f.Run != nil:
		if err = w.confine(f.Run.Limits.Memory); err == nil {
			out.Value, err = w.interpreter.Run(context.Background(), w, *f.Run)
		}
	default:
		err = errors.New("an order of no known kind")
	}
	if err != nil && !errors.As(err, &out.Fault) {
		out.Fault = &protocol.Fault{Kind: protocol.EngineFailed, Text: err.Error()}
	}
	return &out
}

// confine limits the memory of this process, once. The engine's own needs are the minimum.
func (w *served) confine(limit int64) error {
	if w.bound || limit <= 0 {
		return nil
	}
	w.bound = true
	// Open what Go's runtime opens lazily: the time zone file and the poller for timers.
	_ = time.Now().Local().String()
	time.AfterFunc(time.Hour, func() {}).Stop()
	debug.SetMemoryLimit(limit + own)
	if err := limitMemory(2*limit + room); err != nil {
		return sandbox.Errorf(sandbox.Unsupported, "this host does not bound a worker's memory: %w", err)
	}
	return nil
}

const (
	own  = 32 << 20  // bytes that an engine itself needs and that a compiler leaves behind
	room = 192 << 20 // bytes of address space that Go's runtime maps and does not use
)

// call sends a call to the host and waits for its reply.
func (w *served) Call(_ context.Context, op string, args json.RawMessage) (json.RawMessage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := protocol.WriteFrame(w.out, protocol.Frame{Call: &protocol.HostCall{Op: op, Args: args}}); err != nil {
		return nil, err
	}
	f, err := protocol.ReadFrame(w.in)
	switch {
	case err != nil:
		return nil, err
	case f.Reply == nil:
		return nil, errors.New("the host sent no answer")
	case f.Reply.Refusal != nil:
		return nil, f.Reply.Refusal
	}
	return f.Reply.Value, nil
}

// watchMemory monitors this process's memory while a script runs: after each garbage collection it checks the size of the live
// heap. It does not poll, and costs nothing for a script with little memory.
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
