package console

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// grace is the time that a command may take to end after the first signal.
const grace = 10 * time.Second

// maxHold is the time for which a signal that asks for the end may wait for the end of a start.
const maxHold = 2 * time.Second

// Relay forwards our signals to the command. The first one that asks it
// to end is forwarded; a second one, or the end of the grace period, kills the
// sandbox. Before the command is started, the first one ends this process.
// During the start, signals are held: the command may run already and handle them.
type Relay struct {
	terminal bool // the command shares our terminal and gets its keyboard signals directly
	say      func(string)
	cancel   context.CancelFunc     // kills the sandbox
	Resize   func(*sandbox.Running) // sets the size of the command's own terminal to ours; nil: it has none. Set before Attach

	signals chan os.Signal
	ready   chan struct{} // closed when the signals are handled
	begin   chan struct{} // BeginStart
	running chan Target
	quit    chan struct{}
	done    chan struct{}

	// Used by the loop; readable after done is closed.
	run     *sandbox.Running // nil: the command does not run yet
	starts  bool             // the command is being started, or has been
	held    []syscall.Signal // received during the start
	overdue <-chan time.Time // the end of the time for which they are held; nil: none of them asked for the end
	asked   syscall.Signal   // the first signal that asked for the end
	expired <-chan time.Time // the end of the grace period; nil: no signal asked
	killed  syscall.Signal   // the signal for which we killed the sandbox
}

// StartRelay handles the signals until Stop. The returned context
// ends when the command is to be killed.
func StartRelay(ctx context.Context, terminal bool, say func(string)) (*Relay, context.Context) {
	r, ctx := BeginRelay(ctx, terminal, say)
	r.AwaitReady()
	return r, ctx
}

// BeginRelay is StartRelay for callers that have other work before anything needs the signals. They call AwaitReady then:
// package os/signal switches threads twice for each signal, which takes some 0.3 ms.
func BeginRelay(ctx context.Context, terminal bool, say func(string)) (*Relay, context.Context) {
	r, ctx := newRelay(ctx, terminal, say)
	go func() {
		for _, sig := range []os.Signal{
			syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM,
			syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGPIPE,
		} {
			// Signals ignored on entry, by nohup or as a background job, stay ignored.
			if !signal.Ignored(sig) {
				signal.Notify(r.signals, sig)
			}
		}
		close(r.ready)
		r.loop()
	}()
	return r, ctx
}

func newRelay(ctx context.Context, terminal bool, say func(string)) (*Relay, context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	return &Relay{
		terminal: terminal, say: say, cancel: cancel,
		signals: make(chan os.Signal, 16),
		ready:   make(chan struct{}),
		begin:   make(chan struct{}),
		running: make(chan Target, 1),
		quit:    make(chan struct{}),
		done:    make(chan struct{}),
	}, ctx
}

// AwaitReady returns when the relay handles the signals. Until then they have their default actions.
func (r *Relay) AwaitReady() { <-r.ready }

// Target is a command that receives signals.
type Target struct {
	Run   *sandbox.Running
	Local bool // it runs in this process or remotely, so that terminal signals reach only us
}

// BeginStart is called once, right before the command is started. From then on signals are held until Attach; one that asks
// for the end is held for two seconds at most, and then ends the start.
func (r *Relay) BeginStart() {
	r.AwaitReady()
	r.begin <- struct{}{}
}

// Attach sets the command that receives the signals, those that were held first. It is called once, after BeginStart.
func (r *Relay) Attach(t Target) { r.running <- t }

// Stop stops the relay and waits for it. It ends the context and
// returns the signal for which the relay killed the sandbox, or, when the start failed, the one that asked for the end; else 0.
func (r *Relay) Stop() syscall.Signal {
	r.AwaitReady()
	signal.Stop(r.signals)
	return r.End()
}

// End is Stop for the end of this process: what the signals do changes a little later, so that the end does not wait for it.
func (r *Relay) End() syscall.Signal {
	close(r.quit)
	<-r.done
	go signal.Stop(r.signals)
	if r.killed == 0 && r.run == nil {
		return r.heldTermination()
	}
	return r.killed
}

// HasAttached reports whether the command ran. It is called after End or Stop.
func (r *Relay) HasAttached() bool { return r.run != nil }

func (r *Relay) loop() {
	defer close(r.done)
	defer r.cancel()
	for {
		select {
		case <-r.quit:
			for r.run == nil && len(r.signals) > 0 { // the start may have failed because of one
				r.got((<-r.signals).(syscall.Signal)) //nolint:forcetypeassert // package signal sends nothing else
			}
			return
		case <-r.begin:
			r.starts = true
		case t := <-r.running:
			r.attach(t)
		case <-r.overdue:
			r.kill(r.heldTermination())
		case <-r.expired:
			r.say("the command did not end within " + grace.String() + ": killing it")
			r.kill(r.asked)
		case sig := <-r.signals:
			r.got(sig.(syscall.Signal)) //nolint:forcetypeassert // package signal sends nothing else
		}
	}
}

// attach forwards what was held. That includes keys on a terminal that the command shares: most likely they were pressed
// before the command existed.
func (r *Relay) attach(t Target) {
	r.run = t.Run
	r.terminal = r.terminal && !t.Local
	for _, sig := range r.held {
		if sig == syscall.SIGWINCH {
			r.got(sig)
		} else {
			r.forward(sig)
		}
	}
	r.held, r.overdue = nil, nil
}

// hold stores a signal that arrives during the start. The second one that asks for the end kills the sandbox.
func (r *Relay) hold(sig syscall.Signal) {
	if isTermination(sig) && r.heldTermination() != 0 && sig != syscall.SIGHUP { // both the shell and the kernel send SIGHUP
		r.kill(sig)
		return
	}
	if isTermination(sig) && r.overdue == nil {
		r.overdue = time.After(maxHold)
	}
	if !slices.Contains(r.held, sig) {
		r.held = append(r.held, sig)
	}
}

// heldTermination returns the first signal held that asks for the end; 0: none does.
func (r *Relay) heldTermination() syscall.Signal {
	if i := slices.IndexFunc(r.held, isTermination); i >= 0 {
		return r.held[i]
	}
	return 0
}

func (r *Relay) got(sig syscall.Signal) {
	keyboard := sig == syscall.SIGINT || sig == syscall.SIGQUIT || sig == syscall.SIGWINCH
	switch {
	case sig == syscall.SIGWINCH && r.run != nil && r.Resize != nil:
		r.Resize(r.run)
	case sig == syscall.SIGPIPE: // handled only so that a write fails instead of killing this process
	case r.run == nil && r.starts:
		r.hold(sig)
	case r.run == nil && isTermination(sig):
		r.kill(sig)
	case r.run == nil || r.terminal && keyboard:
	case isTermination(sig) && r.asked != 0 && sig != syscall.SIGHUP: // both the shell and the kernel send SIGHUP
		r.kill(sig)
	default:
		r.forward(sig)
	}
}

func (r *Relay) forward(sig syscall.Signal) {
	_ = r.run.Signal(sig) // it may have ended already, which Wait reports
	if isTermination(sig) && r.asked == 0 {
		r.asked, r.expired = sig, time.After(grace)
	}
}

func (r *Relay) kill(sig syscall.Signal) {
	if r.killed == 0 {
		r.killed = sig
	}
	r.cancel()
}

// isTermination reports whether sig asks a program to end.
func isTermination(sig syscall.Signal) bool {
	return sig == syscall.SIGHUP || sig == syscall.SIGINT || sig == syscall.SIGTERM
}
