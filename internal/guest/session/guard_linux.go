package session

import (
	"context"
	"net/netip"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/landlock"
	"github.com/seed434b0696/agent-sandbox/internal/rlimit"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// guarding is a guard in the supervisor. One thread has the seccomp programs and only starts the runners, so that all
// commands inherit the programs. Another thread answers the system calls. A command can neither trace this process nor
// read its memory (PR_SET_DUMPABLE in prctl(2)), nor kill it as the first process of a PID namespace.
type guarding struct {
	guard  *guard.Guard
	forks  chan fork
	stop   int           // eventfd; a write ends the guard
	look   int           // eventfd; a write makes the guard check the names at once
	served chan struct{} // closed when the guard has stopped answering
	told   chan guard.Refusal
	once   once
	fallen chan string // the reason for which the sandbox must end; one at most
	reason chan string // the same reason, when no command runs any more

	mu      sync.Mutex
	waiting []chan struct{} // closed when the guard has checked the names
	raced   bool            // a command made a guarded name
}

// fork makes the thread that has the programs start a process.
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

// guardian returns the session's guard, or nil.
func (s *supervisor) guardian() *guarding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.guarded
}

// guard begins to guard all commands. The returned function sends the guard's refusals and the reason for the end of
// the sandbox.
func (s *supervisor) guard(rules guard.Rules, deny seccomp.DenyOptions, redirection *guard.Redirection) (tell, error) {
	if err := guard.AvailableInside(); err != nil {
		return nil, err
	}
	g := &guarding{
		forks: make(chan fork), served: make(chan struct{}),
		told: make(chan guard.Refusal, maxTold), fallen: make(chan string, 1), reason: make(chan string, 1),
	}
	rules.Inside = true
	deny.Dumpable, deny.Reported = true, true
	g.guard = guard.New(guard.Options{Rules: rules, Reported: &deny, Redirection: redirection, Refused: g.refused, Appeared: g.appeared})
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
	_ = rlimit.SuppressCore(0)
	ready := make(chan error)
	go g.carry(denied, asks, !deny.Userns && landlock.Version() > 0, ready)
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
	return func(ctx context.Context, a *asked) { s.sendRefusals(ctx, g, a) }, nil
}

// redirection redirects connections to the relay at an address.
func (s *supervisor) redirection(at netip.AddrPort) *guard.Redirection {
	return &guard.Redirection{
		Proxy: at, Network: guard.OwnNetwork,
		Permit: func(to netip.AddrPort) (func(uint16) func(), error) {
			if err := s.relays.ask(s.ctx, to); err != nil {
				return nil, unix.ENETUNREACH // as without a proxy
			}
			return func(from uint16) func() { return s.relays.redirects.expected.Expect(from, to) }, nil
		},
	}
}

// carry runs the thread that has the programs. With domain, the thread is in a Landlock domain in which no directory
// entry can be made: the guard makes them outside of it. The thread ends with this process.
func (g *guarding) carry(denied, asks seccomp.Program, domain bool, ready chan<- error) {
	runtime.LockOSThread() // never unlocked
	var err error
	if domain {
		err = landlock.DenyEntries()
	}
	if err == nil {
		err = denied.Install()
	}
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

// inspect waits until the guard has checked the guarded names. It reports whether no command has ever created one.
func (g *guarding) inspect() bool {
	done := make(chan struct{})
	g.mu.Lock()
	g.waiting = append(g.waiting, done)
	g.mu.Unlock()
	one := [8]byte{1}
	_, _ = unix.Write(g.look, one[:]) // an eventfd takes it
	select {
	case <-done:
	case <-g.served: // the guard has made its last check, or makes it now
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.raced
}

// looked runs on the guard's thread after a check that inspect requested.
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

// refused queues a refusal for the host. The command does not wait for the host.
func (g *guarding) refused(r guard.Refusal) {
	if !g.once.isNew(r, time.Now()) {
		return
	}
	select {
	case g.told <- r:
	default:
	}
}

// appeared moves a raced file aside, and ends the sandbox.
func (g *guarding) appeared(a guard.Appearance) {
	if !a.Raced {
		return
	}
	g.mu.Lock()
	g.raced = true
	g.mu.Unlock()
	why := "it raced the guard to create " + a.Path
	if name, err := a.MoveAside(); err != nil {
		why += ", which could not be moved away: " + err.Error()
	} else {
		why += ", which is now " + name
	}
	g.fail(why)
}

func (g *guarding) fail(why string) {
	select {
	case g.fallen <- why:
	default: // the first reason counts
	}
}

// fallTime limits the time for the host to read the reason.
const fallTime = 5 * time.Second

// await ends the sandbox if the guard requires it or has stopped.
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

// sendRefusals sends the guard's refusals and finally the reason for the end of the sandbox. It ignores errors, which
// mean that the host has gone.
func (s *supervisor) sendRefusals(ctx context.Context, g *guarding, a *asked) {
	for {
		select {
		case r := <-g.told:
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

// closeGuard makes the guard check the names for the last time, when no command runs any more.
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
