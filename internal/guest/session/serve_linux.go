package session

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Serve is the guest's end: it runs the host's commands until the connection ends, and then kills all
// processes.
func Serve(conn io.ReadWriteCloser, o Options) error {
	s, err := NewServer(o)
	if err != nil {
		return err
	}
	return s.serve(conn, s.runners.killAll)
}

// Server is the guest's end of any number of sessions over one set of processes.
type Server struct {
	options Options
	runners *runners
}

// NewServer prepares this process to start commands. A process has one server.
func NewServer(o Options) (*Server, error) {
	if err := CloseOnExec(); err != nil {
		return nil, err
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, err
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	catchSignals()
	reserveThreads(serverThreads)
	s := &Server{options: o, runners: newRunners(o.Runner)}
	s.runners.container = o.Container
	s.runners.prepare()
	return s, nil
}

// catchSignals makes signals from commands have no effect. The kernel protects the first process of a namespace only
// from signals without a handler (pid_namespaces(7)). Go's runtime handles all signals, most by ending the process.
// Signals are caught and not ignored, so that commands start with the default action.
func catchSignals() {
	const last = 64
	var caught []os.Signal
	for s := syscall.Signal(1); s <= last; s++ {
		switch s {
		case syscall.SIGKILL, syscall.SIGSTOP, // cannot be caught
			syscall.SIGCHLD, syscall.SIGURG, syscall.SIGPROF: // others in this process use them
		case syscall.SIGILL, syscall.SIGTRAP, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGSTKFLT, syscall.SIGSYS:
			// Go's runtime treats these as faults unless kill(2) has sent them, but rt_sigqueueinfo(2) and F_SETSIG can
			// send them, too. With the default action the kernel drops them for the first process, except for real
			// faults.
			if os.Getpid() == 1 {
				resetSignal(s)
			} else {
				caught = append(caught, s)
			}
		default:
			caught = append(caught, s)
		}
	}
	signal.Notify(make(chan os.Signal, 1), caught...)
}

// resetSignal gives a signal its default action, bypassing Go's runtime (rt_sigaction(2)).
func resetSignal(s syscall.Signal) {
	var action [4]uintptr // struct sigaction of the kernel: handler (0 is SIG_DFL), flags, restorer, mask
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&action)), 0, unsafe.Sizeof(action[0]), 0, 0)
}

// Serve serves one session until its connection ends. It then kills the session's running commands; their background processes
// stay. It is safe for concurrent use.
func (s *Server) Serve(conn io.ReadWriteCloser) error { return s.serve(conn, func() {}) }

// IsFrozen reports whether [Connection.Freeze] of any session has stopped the commands.
func (s *Server) IsFrozen() bool { return s.runners.freezer.isFrozen() }

// KillAll kills all commands. Commands can be started afterwards.
func (s *Server) KillAll() { s.runners.killRunning() }

func (s *Server) serve(conn io.ReadWriteCloser, last func()) error {
	r, err := greet(context.Background(), conn)
	if err != nil {
		return err
	}
	m := mux.Server(conn, r)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	v := &supervisor{options: s.options, runners: s.runners, relays: newRelaying(ctx, m, s.options.Loopback), ctx: ctx, end: ctx.Done(), hangUp: m.Close, flush: m.Flush}
	accept(ctx, m, v)
	cancel()
	v.relays.all.Wait()
	last()
	v.closeGuard()
	return nil
}

// supervisor serves one session of the host.
type supervisor struct {
	options Options
	runners *runners
	relays  *relaying
	ctx     context.Context //nolint:containedctx // of the session, which this is a part of
	end     <-chan struct{}
	hangUp  func() error // ends the session
	flush   func()       // returns when all frames were sent to the host

	mu      sync.Mutex
	settled bool      // Setup was called, or is no longer possible
	guarded *guarding // nil: the session has no guard
}

// settle reports whether it is called for the first time.
func (s *supervisor) settle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.settled
	s.settled = true
	return first
}

func (s *supervisor) setUp(want Setup) (tell, error) {
	if !s.settle() {
		return nil, sandbox.Errorf(sandbox.Invalid, "the guest is set up once, before the first command")
	}
	if err := verify(want.Expect); err != nil {
		s.runners.killAll() // commands must not run with a wrong mount
		return nil, err
	}
	if want.Redirect != "" && want.Guard == nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "only a guard redirects connections")
	}
	var redirection *guard.Redirection
	if want.Redirect != "" {
		at, err := s.relays.redirect(want.Relays, want.Redirect)
		if err != nil {
			return nil, err
		}
		redirection = s.redirection(at)
	}
	if err := s.relays.listen(want.Relays); err != nil || want.Guard == nil {
		return nil, err
	}
	t, err := s.guard(*want.Guard, want.Deny, redirection)
	if err != nil {
		s.runners.killAll() // commands must not run without the guard
	}
	return t, err
}

func (s *supervisor) dial(ctx context.Context, t target) (net.Conn, error) {
	if t.Network == "tcp" && s.options.Loopback != nil {
		return nil, sandbox.Errorf(sandbox.Unavailable, "%s: no program inside can listen there", t.Addr)
	}
	return dialInside(ctx, t)
}

func (s *supervisor) listen(ctx context.Context, r Relay) (net.Listener, error) {
	return s.relays.at.listen(ctx, r)
}

func (s *supervisor) command(a *asked) {
	s.settle()
	if g := s.guardian(); g != nil {
		g.once.again() // only the host starts commands
	}
	if isFreezing(a.req.Op) {
		s.freeze(a)
		return
	}
	if a.req.Op != "" && s.options.Operation != nil {
		a.operate(s.ctx, s.options.Operation)
		return
	}
	if a.req.Op != "" || a.req.Dir == "" {
		a.refuse(sandbox.Errorf(sandbox.Unsupported, "the guest does not support operations, and needs a directory for a command"))
		return
	}
	if s.options.Busy != nil {
		s.options.Busy(1)
		defer s.options.Busy(-1)
	}
	c := &command{runners: s.runners, asked: a}
	if s.options.Inside != nil {
		run, ok := s.options.Inside(plainStrings(a.req.Args), a.req.Dir)
		if ok && s.guardian() == nil { // the guard covers operations on files, too
			serveInside(a, run)
			return
		}
		c.own = ok
	}
	c.serve()
}

// freeze performs an operation of the freezer. A paused sandbox is not idle.
func (s *supervisor) freeze(a *asked) {
	if s.options.Busy != nil {
		s.options.Busy(1)
		defer s.options.Busy(-1)
	}
	a.operate(s.ctx, s.runners.freezer.operate)
}

// serveInside executes the guest's own commands.
func serveInside(a *asked, run func(in io.Reader, out, errs io.Writer) int) {
	var input io.Reader = eof{}
	if a.in != nil {
		input = a.in
	}
	if a.begun() != nil {
		return
	}
	code := run(input, a.out.kind(frameOutput), a.out.kind(frameErrors))
	_ = a.out.last(frameExit, exitFrame(sandbox.Exit{Code: code})) // an error means that the host has gone
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// files closes several files at once.
type files []*os.File

func (f files) close() {
	for _, file := range f {
		if file != nil {
			_ = file.Close()
		}
	}
}

var errGone = errors.New("the runner is gone")
