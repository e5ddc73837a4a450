package session

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	// settleTime bounds the wait until a process has stopped. One that waits in the kernel for longer, for a child of vfork(2) or a slow
	// disk, completes at most its current system call.
	settleTime = 100 * time.Millisecond
	// chaseTime is the time in which processes are stopped one by one, parents first. A chain of processes that start each other can be
	// faster. Then all are stopped with one call.
	chaseTime = time.Second
	// freezeTime bounds the whole freeze.
	freezeTime = 10 * time.Second
	// pollTime is the interval between two checks: the kernel reports only to a parent that a process has stopped.
	pollTime = time.Millisecond
)

// freezer stops and continues the processes of commands: all processes below the supervisor but runners, and but those of
// operations on files. It needs no privilege: it sends SIGSTOP and SIGCONT.
type freezer struct {
	runners *runners

	admission sync.Mutex
	frozen    bool          // commands are refused; written under acting and admission
	starting  int           // commands that are being started
	held      chan struct{} // closed when commands may be started again; nil: they may
	started   chan struct{} // closed when starting is 0; nil: no process waits for it

	acting  sync.Mutex // held while processes are stopped or continued
	pauses  int        // that last
	stopped []identity // in the order in which they were stopped
	ours    map[identity]bool

	mu    sync.Mutex
	rests bool     // processes are stopped, or are being stopped
	later []func() // called when they continue
}

// admit reports whether a command may be started, and holds off the next freeze until release is called.
func (f *freezer) admit() (release func(), ok bool) {
	f.admission.Lock()
	defer f.admission.Unlock()
	for f.held != nil {
		held := f.held
		f.admission.Unlock()
		<-held
		f.admission.Lock()
	}
	if f.frozen {
		return nil, false
	}
	f.starting++
	return f.endStart, true
}

func (f *freezer) endStart() {
	f.admission.Lock()
	defer f.admission.Unlock()
	f.starting--
	if f.starting == 0 && f.started != nil {
		close(f.started)
		f.started = nil
	}
}

// holdStarts makes admit wait until release is called, and returns when no command is being started: a process that is stopped before it
// executes the command would hold its start. The caller holds acting.
func (f *freezer) holdStarts(ctx context.Context) (release func(), err error) {
	f.admission.Lock()
	f.held = make(chan struct{})
	started := make(chan struct{})
	if f.started = started; f.starting == 0 {
		close(started)
		f.started = nil
	}
	f.admission.Unlock()
	release = func() {
		f.admission.Lock()
		defer f.admission.Unlock()
		close(f.held)
		f.held, f.started = nil, nil
	}
	late := time.NewTimer(freezeTime)
	defer late.Stop()
	select {
	case <-started:
		return release, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-late.C:
		err = sandbox.Errorf(sandbox.Unavailable, "a command is still being started after %v", freezeTime).WithHint("stop or destroy the sandbox")
	}
	release()
	return nil, err
}

func (f *freezer) isFrozen() bool {
	f.admission.Lock()
	defer f.admission.Unlock()
	return f.frozen
}

func (f *freezer) setFrozen(on bool) {
	f.admission.Lock()
	defer f.admission.Unlock()
	f.frozen = on
}

// postpone defers a call until the processes continue. False: they run.
func (f *freezer) postpone(do func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rests {
		f.later = append(f.later, do)
	}
	return f.rests
}

// freeze stops all commands until thaw.
func (f *freezer) freeze(ctx context.Context) error {
	f.acting.Lock()
	defer f.acting.Unlock()
	if f.isFrozen() {
		return nil
	}
	release, err := f.holdStarts(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := f.stop(ctx); err != nil {
		f.proceed()
		return err
	}
	f.setFrozen(true)
	return nil
}

// thaw ends a freeze.
func (f *freezer) thaw() {
	f.acting.Lock()
	defer f.acting.Unlock()
	f.setFrozen(false)
	f.proceed()
}

// pause stops all commands until resume is called. Commands that are started meanwhile run.
func (f *freezer) pause(ctx context.Context) (resume func(), err error) {
	f.acting.Lock()
	defer f.acting.Unlock()
	release, err := f.holdStarts(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := f.stop(ctx); err != nil {
		f.proceed()
		return nil, err
	}
	f.pauses++
	return func() {
		f.acting.Lock()
		defer f.acting.Unlock()
		f.pauses--
		f.proceed()
	}, nil
}

// operate performs an operation of [Connection.Freeze], Thaw or Pause.
func (f *freezer) operate(ctx context.Context, name string, _ json.RawMessage, answer io.Writer) error {
	switch name {
	case opFreeze:
		return f.freeze(ctx)
	case opThaw:
		f.thaw()
		return nil
	}
	resume, err := f.pause(ctx)
	if err != nil {
		return err
	}
	defer resume()
	if _, err := io.WriteString(answer, name+"\n"); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func isFreezing(op string) bool { return slices.Contains([]string{opFreeze, opThaw, opPause}, op) }

// proceed continues the processes unless they have another reason to rest, in the opposite order: a shell whose child stops and
// continues while the shell itself is stopped does not notice (wait4(2) reports only a child that is stopped now).
func (f *freezer) proceed() {
	if f.frozen || f.pauses > 0 {
		return
	}
	for _, p := range slices.Backward(f.stopped) {
		if now, ok := readEntry(statOf(p.pid), p.pid); ok && now.identity() == p {
			_ = unix.Kill(p.pid, unix.SIGCONT) // it may have ended
		}
	}
	f.stopped, f.ours = nil, nil
	f.mu.Lock()
	later := f.later
	f.rests, f.later = false, nil
	f.mu.Unlock()
	for _, do := range later {
		do()
	}
}

func statOf(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/stat" }

// stop stops all processes of commands, and returns when two looks at them in a row have found none that runs and none that is new.
// On an error some are stopped.
func (f *freezer) stop(ctx context.Context) error {
	f.mu.Lock()
	f.rests = true
	f.mu.Unlock()
	if f.ours == nil {
		f.ours = map[identity]bool{}
	}
	h := &hunt{freezer: f, known: map[identity]bool{}, asked: map[identity]time.Time{}}
	begin := time.Now()
	for quiet := 0; quiet < 2; {
		spent := time.Since(begin)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case spent > freezeTime:
			return sandbox.Errorf(sandbox.Unavailable, "process %d could not be stopped within %v", h.last, freezeTime).
				WithHint("stop or destroy the sandbox")
		case spent > chaseTime:
			h.stopNamespace()
		}
		if h.look() {
			quiet++
			continue
		}
		quiet = 0
		<-time.After(pollTime)
	}
	return nil
}

// hunt is one attempt to stop all processes.
type hunt struct {
	*freezer

	known map[identity]bool      // have been seen stopped, or were stopped
	asked map[identity]time.Time // when they were sent the first SIGSTOP
	whole bool                   // all processes of the namespace were stopped at once
	last  int                    // the process that was last seen running
}

// look stops the processes that run, parents before their children. It reports whether all were stopped before, and none is new.
func (h *hunt) look() (quiet bool) {
	list, quiet := h.runners.commands()
	for _, e := range list {
		if !h.settle(e.identity()) {
			quiet = false
		}
	}
	return quiet
}

// settle stops a process. It reports whether the process was stopped and known already.
func (h *hunt) settle(p identity) bool {
	known := h.known[p]
	h.known[p] = true
	if h.isStopped(p) {
		if !known && h.whole { // by stopNamespace: the chase has seen all that were stopped before
			h.own(p)
		}
		return known
	}
	h.last = p.pid
	h.own(p)
	if h.asked[p].IsZero() {
		h.asked[p] = time.Now()
	}
	_ = unix.Kill(p.pid, unix.SIGSTOP) // it may have ended
	// Its children are stopped later, so that it does not see them stop.
	for !h.whole && !h.isStopped(p) && time.Since(h.asked[p]) < settleTime {
		<-time.After(pollTime / 10)
	}
	return false
}

// own notes that thaw has to continue the process.
func (h *hunt) own(p identity) {
	if !h.ours[p] {
		h.ours[p] = true
		h.stopped = append(h.stopped, p)
	}
}

// isStopped reports whether no thread of a process runs, also when the first thread has ended. A thread that waits in the kernel and
// stops before it returns to the program counts after settleTime.
func (h *hunt) isStopped(p identity) bool {
	dir := "/proc/" + strconv.Itoa(p.pid) + "/task/"
	threads := numbers(dir)
	halted, waiting := false, false
	for _, tid := range threads {
		e, ok := readEntry(dir+strconv.Itoa(tid)+"/stat", tid)
		switch {
		case !ok:
			return false // it has ended just now
		case e.state == 'T' || e.state == 't':
			halted = true
		case e.state == 'Z' || e.state == 'X':
		case e.state == 'D':
			waiting = true
		default:
			return false
		}
	}
	if !waiting {
		return len(threads) > 0
	}
	asked := h.asked[p]
	return !asked.IsZero() && time.Since(asked) > settleTime && (halted || isStopPending(dir+strconv.Itoa(p.pid)+"/status"))
}

// isStopPending reports whether a process has received a SIGSTOP that it has not handled (proc_pid_status(5)).
func isStopPending(status string) bool {
	data, err := os.ReadFile(status)
	if err != nil {
		return false
	}
	for line := range bytes.Lines(data) {
		if set, ok := bytes.CutPrefix(line, []byte("ShdPnd:")); ok {
			n, err := strconv.ParseUint(string(bytes.TrimSpace(set)), 16, 64)
			return err == nil && n&(1<<(unix.SIGSTOP-1)) != 0
		}
	}
	return false
}

// stopNamespace sends SIGSTOP to all processes of the PID namespace at once, so that none can start another or continue one, and
// continues at once those that are not of commands. Runners have to reap, or the processes that have ended fill the process table.
func (h *hunt) stopNamespace() {
	children, _ := processTree()
	inside := map[int]bool{1: true, os.Getpid(): true}
	for todo := []int{os.Getpid()}; len(todo) > 0; {
		for _, e := range children[todo[0]] {
			inside[e.pid] = true
			todo = append(todo, e.pid)
		}
		todo = todo[1:]
	}
	var outside []int // such as the process that carries the session
	for _, list := range children {
		for _, e := range list {
			if !inside[e.pid] && e.state != 'T' && e.state != 't' {
				outside = append(outside, e.pid)
			}
		}
	}
	if os.Getpid() != 1 && (os.Getppid() != 1 || len(outside) > 0) {
		return // the namespace has processes that are not the sandbox's
	}
	h.whole = true
	_ = unix.Kill(-1, unix.SIGSTOP) // all but the first process of the namespace and this one
	children, _ = processTree()     // an operation on files may have started one meanwhile
	for _, pid := range append(h.runners.spared(children), outside...) {
		_ = unix.Kill(pid, unix.SIGCONT)
	}
}
