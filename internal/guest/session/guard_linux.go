package session

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// guarding is a guard within the supervisor. One thread of ours carries the programs and starts the runners, so
// that everything that runs inherits them; it is used for nothing else. Another one answers. A command can neither
// trace this process nor read it (PR_SET_DUMPABLE in prctl(2)), nor kill the first one of a pid namespace.
type guarding struct {
	guard  *guard.Guard
	forks  chan fork
	stop   int           // eventfd; written to end serving
	look   int           // eventfd; written to have the guard look at once
	served chan struct{} // closed when nobody answers any more
	told   chan guard.Refusal
	fallen chan string // why the sandbox has to end; one at most
	reason chan string // the same, when nothing runs any more

	mu      sync.Mutex
	waiting []chan struct{} // closed when the guard has looked
	raced   bool            // a command made a guarded name
}

// fork asks the thread that carries the programs for a process.
type fork struct {
	path   string
	line   []string
	attr   *syscall.ProcAttr
	answer chan<- forked
}

type forked struct {
	pid int
	err error
}

// guardian returns the guard, or nil.
func (s *supervisor) guardian() *guarding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.guarded
}

// guard begins to guard all commands. The function it returns tells what comes of it.
func (s *supervisor) guard(rules guard.Rules, deny seccomp.DenyOptions) (tell, error) {
	if err := guard.AvailableInside(); err != nil {
		return nil, err
	}
	g := &guarding{
		forks: make(chan fork), served: make(chan struct{}),
		told: make(chan guard.Refusal, maxTold), fallen: make(chan string, 1), reason: make(chan string, 1),
	}
	rules.Inside = true
	g.guard = guard.New(guard.Options{Rules: rules, Refused: g.refused, Appeared: g.appeared})
	deny.Dumpable = true
	denied, err := seccomp.Deny(runtime.GOARCH, deny)
	if err != nil {
		return nil, err
	}
	asks, err := g.guard.Program()
	if err != nil {
		return nil, err
	}
	if g.stop, err = unix.Eventfd(0, unix.EFD_CLOEXEC); err != nil {
		return nil, err
	}
	if g.look, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		_ = unix.Close(g.stop)
		return nil, err
	}
	// The host's handler of core dumps gets none (core(5)); a limit that is lower already does not matter.
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1, Max: 1})
	ready := make(chan error)
	go g.carry(denied, asks, ready)
	if err := <-ready; err != nil {
		_ = unix.Close(g.stop)
		_ = unix.Close(g.look)
		return nil, sandbox.Errorf(sandbox.Unavailable, "the guard inside cannot be installed: %w", err).
			WithHint("the container's seccomp profile has to allow seccomp(2) and prctl(2)")
	}
	s.mu.Lock()
	s.guarded = g
	s.mu.Unlock()
	s.runners.through(g.fork)
	s.runners.inspectWith(g.inspect)
	go s.await(g)
	return func(ctx context.Context, a *asked) { s.tell(ctx, g, a) }, nil
}

// carry is the thread that carries the programs, and ends with this process.
func (g *guarding) carry(denied, asks seccomp.Program, ready chan<- error) {
	runtime.LockOSThread() // never unlocked
	err := denied.Install()
	var l *guard.Listener
	if err == nil {
		l, err = guard.Listen(asks)
	}
	if err == nil {
		go g.serve(l)
	}
	ready <- err
	for f := range g.forks {
		pid, err := syscall.ForkExec(f.path, f.line, f.attr)
		f.answer <- forked{pid, err}
	}
}

func (g *guarding) serve(l *guard.Listener) {
	defer close(g.served)
	g.guard.Serve(l,
		guard.Event{FD: g.stop, Ready: func() bool { g.guard.End(); return false }},
		guard.Event{FD: g.look, Ready: g.looked})
}

// inspect has the guard look at the guarded names, and returns when it has. It reports whether no command ever made one.
func (g *guarding) inspect() bool {
	done := make(chan struct{})
	g.mu.Lock()
	g.waiting = append(g.waiting, done)
	g.mu.Unlock()
	one := [8]byte{1}
	_, _ = unix.Write(g.look, one[:]) // an eventfd takes it
	select {
	case <-done:
	case <-g.served: // the last look was taken, or is
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.raced
}

// looked runs on the guard's thread when somebody waits for a look.
func (g *guarding) looked() bool {
	var count [8]byte
	_, _ = unix.Read(g.look, count[:])
	g.mu.Lock()
	waiting := g.waiting
	g.waiting = nil
	g.mu.Unlock()
	g.guard.Inspect()
	for _, done := range waiting {
		close(done)
	}
	return true
}

func (g *guarding) fork(path string, line []string, attr *syscall.ProcAttr) (int, error) {
	answer := make(chan forked)
	g.forks <- fork{path, line, attr, answer}
	f := <-answer
	return f.pid, f.err
}

// refused keeps what is to be told. Whoever asks the guard does not wait for the host.
func (g *guarding) refused(r guard.Refusal) {
	select {
	case g.told <- r:
	default:
	}
}

// appeared moves what raced past the guard aside, and has the sandbox end.
func (g *guarding) appeared(path string, raced bool) {
	if !raced {
		return
	}
	g.mu.Lock()
	g.raced = true
	g.mu.Unlock()
	why := "it raced the guard to create " + path
	to := path + ".refused-" + strconv.FormatInt(time.Now().UnixNano(), 10)
	if err := os.Rename(path, to); err != nil {
		why += ", which could not be moved away: " + err.Error()
	} else {
		why += ", which is now " + filepath.Base(to)
	}
	g.fail(why)
}

func (g *guarding) fail(why string) {
	select {
	case g.fallen <- why:
	default: // there is a reason
	}
}

// fallTime is how long the host has to take the reason.
const fallTime = 5 * time.Second

// await ends the sandbox when the guard wants that, or is gone.
func (s *supervisor) await(g *guarding) {
	var why string
	select {
	case why = <-g.fallen:
	case <-g.served:
		why = "the guard inside has ended"
	case <-s.end:
		return
	}
	s.runners.killAll()
	time.AfterFunc(fallTime, func() { _ = s.hangUp() })
	g.reason <- why
}

// tell sends what the guard refuses, each once a minute, and at last why it ended the sandbox. The host is gone when
// it does not take it.
func (s *supervisor) tell(ctx context.Context, g *guarding, a *asked) {
	var since time.Time
	seen := map[guard.Refusal]bool{}
	for {
		select {
		case r := <-g.told:
			if now := time.Now(); now.Sub(since) >= toldTime {
				clear(seen)
				since = now
			}
			if seen[r] || len(seen) >= maxTold {
				continue
			}
			seen[r] = true
			_ = writeJSON(a.out.w, frameRefusal, toldRefusal{r.Kind, r.Op, guard.Path(r.Target), guard.Path(r.Command)})
		case why := <-g.reason:
			a.refuse(sandbox.Errorf(sandbox.Closed, "the sandbox has ended: %s", why))
			s.flush()
			_ = s.hangUp()
			return
		case <-ctx.Done():
			return
		}
	}
}

// closeGuard looks for the last time, when nothing runs any more.
func (s *supervisor) closeGuard() {
	g := s.guardian()
	if g == nil {
		return
	}
	one := [8]byte{1}
	_, _ = unix.Write(g.stop, one[:]) // an eventfd takes it
	<-g.served
	g.guard.Close()
	_ = unix.Close(g.stop)
	_ = unix.Close(g.look)
}
