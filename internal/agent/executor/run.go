package executor

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// defaultGrace is the time that an agent may run after its result. Claude Code takes some 5 s to end its background
// tasks, and may hang there for good (anthropics/claude-code#25629).
const defaultGrace = 10 * time.Second

// Program describes how to start an agent and how to exchange messages with it.
type Program struct {
	Cmd     sandbox.Cmd
	Decoder event.Decoder
	Input   [][]byte // the first lines of its input
	Open    bool     // more lines may follow, so that its input ends with its result; false: the input ends after those lines
	// Control answers a request of the agent; nil: it makes none. It is called in order with the events and must
	// return at once: longer work runs in a goroutine of Session.Go.
	Control func(ctx context.Context, s *Session, c *event.Control)
	// Interrupt is the line that asks the agent to stop; nil: Run sends SIGINT.
	Interrupt func() []byte
	Grace     time.Duration // 0: 10 s
}

// Session is a running agent.
type Session struct {
	in      *input
	kill    context.CancelCauseFunc
	work    sync.WaitGroup
	running chan struct{} // has one element for each goroutine of Go
}

// maxRequests is the number of an agent's requests that are served at once. Further ones wait.
const maxRequests = 64

// Send writes a line to the agent. It ends an agent that does not read its input.
func (s *Session) Send(line []byte) {
	if !s.in.send(line) {
		s.kill(errFlood)
	}
}

// Go runs f concurrently with the events. The context is that of Control; after its end Go does not call f and
// returns false.
func (s *Session) Go(ctx context.Context, answer func()) bool {
	select {
	case s.running <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	s.work.Go(func() {
		defer func() { <-s.running }()
		answer()
	})
	return true
}

var (
	errFlood = errors.New("the agent does not read its input")
	errLate  = errors.New("the time limit passed")
	errGrace = errors.New("the agent did not end by itself")
)

// Run starts a program in a sandbox and passes on its events until it and its children have exited. See Executor.Run.
func Run(ctx context.Context, box *sandbox.Sandbox, p Program, emit func(event.Event)) error {
	alive, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	defer kill(nil)
	s := &Session{in: newInput(), kill: kill, running: make(chan struct{}, maxRequests)}
	defer s.work.Wait()
	defer kill(nil) // before waiting for the goroutines of Go
	defer s.in.close()
	for _, line := range p.Input {
		s.Send(line)
	}
	if !p.Open {
		s.in.close()
	}
	out, w := io.Pipe()
	defer out.Close()
	var stderr tail
	stdio := sandbox.Stdio{Stdout: w, Stderr: &stderr}
	if p.Open || len(p.Input) > 0 {
		stdio.Stdin = s.in
	}
	running, err := box.Start(alive, p.Cmd, stdio)
	if err != nil {
		return err
	}
	ended := make(chan ending, 1)
	go func() {
		exit, err := running.Wait()
		_ = w.Close()
		ended <- ending{exit: exit, err: err}
	}()
	guard := newWatchdog(ctx, s, p, running)
	told := s.follow(alive, out, p, reportLateResult(ctx, emit), guard)
	end := <-ended
	guard.stop()
	end.cause, end.told, end.cut, end.late = context.Cause(alive), told, running.IsCut(), running.HasTimedOut()
	end.stderr = strings.ToValidUTF8(stderr.String(), "\uFFFD")
	return end.tell(ctx, emit)
}

// ending records how an agent ended.
type ending struct {
	exit   sandbox.Exit
	err    error  // of Wait
	cause  error  // why Run killed it; nil: it did not
	told   bool   // the agent sent a result
	cut    bool   // output was lost
	late   bool   // the sandbox's time limit passed
	stderr string // the end of its stderr
}

// follow emits the events until the output ends, and reports whether a result was among them.
func (s *Session) follow(alive context.Context, out io.Reader, p Program, emit func(event.Event), guard *watchdog) (told bool) {
	for e, err := range event.Stream(context.WithoutCancel(alive), out, p.Decoder, 0) {
		if err != nil {
			break // the end of the pipe is its only error
		}
		emit(e)
		switch {
		case e.Kind == event.ResultGiven:
			told = true
			s.in.close()
			guard.result()
		case e.Kind == event.ControlSent && !e.Control.Response && !e.Control.FromHost && p.Control != nil:
			p.Control(alive, s, e.Control)
		}
	}
	return told
}

// reportLateResult reports to an interrupted agent's result that the time limit was the reason.
func reportLateResult(ctx context.Context, emit func(event.Event)) func(event.Event) {
	return func(e event.Event) {
		if e.Kind == event.ResultGiven && e.Result.Outcome == event.Interrupted && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			r := *e.Result
			r.Outcome, r.Errors, e.Result = event.Failed, []string{errLate.Error()}, &r
		}
		emit(e)
	}
}

// tell emits how and why the agent ended, if the agent itself did not.
func (end ending) tell(ctx context.Context, emit func(event.Event)) error {
	if end.err != nil && end.cause == nil {
		return end.err
	}
	if end.cut {
		emit(event.NewNotice(event.NoticeError, "", "the output went past the sandbox's limit, and the rest was lost"))
	}
	if r := end.unsaid(ctx); r != nil {
		emit(event.Event{Kind: event.ResultGiven, Result: r})
	}
	if end.err == nil {
		emit(event.Event{Kind: event.ProcessExited, Exit: &event.Exit{Code: end.exit.Code, Stderr: end.stderr}})
	} else {
		emit(event.NewNotice(event.NoticeStatus, "killed", end.cause.Error()))
	}
	return nil
}

// unsaid returns the result of a run that Run ended. It is nil for an agent with its own result, or one that ended by itself without one.
func (end ending) unsaid(ctx context.Context) *event.Result {
	switch {
	case end.told:
	case errors.Is(end.cause, errFlood):
		return &event.Result{Outcome: event.Failed, Errors: []string{errFlood.Error()}}
	case end.late, errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return &event.Result{Outcome: event.Failed, Errors: []string{errLate.Error()}}
	case ctx.Err() != nil:
		return &event.Result{Outcome: event.Interrupted, Errors: []string{"interrupted"}}
	}
	return nil
}

// watchdog ends an agent that does not exit after its result or after ctx has ended.
type watchdog struct {
	seen chan struct{}
	done chan struct{}
	over sync.WaitGroup
	once sync.Once
}

func newWatchdog(ctx context.Context, s *Session, p Program, running *sandbox.Running) *watchdog {
	d := &watchdog{seen: make(chan struct{}), done: make(chan struct{})}
	grace := p.Grace
	if grace <= 0 {
		grace = defaultGrace
	}
	d.over.Go(func() {
		select {
		case <-d.done:
			return
		case <-d.seen:
		case <-ctx.Done():
			if p.Interrupt == nil {
				_ = running.Signal(os.Interrupt) // it may have exited already
			} else {
				s.Send(p.Interrupt())
			}
		}
		late := time.NewTimer(grace)
		defer late.Stop()
		select {
		case <-d.done:
		case <-late.C:
			s.kill(errGrace)
		}
	})
	return d
}

// result starts the grace period.
func (d *watchdog) result() { d.once.Do(func() { close(d.seen) }) }

// stop stops the watchdog and waits for it.
func (d *watchdog) stop() {
	close(d.done)
	d.over.Wait()
}
