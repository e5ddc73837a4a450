package podinit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/link"
	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/internal/guest/supervisor"
	"github.com/seed434b0696/agent-sandbox/internal/rlimit"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Run is the first process of a pod and its supervisor. It applies the restrictions that no field of a pod can request,
// and serves the clients that join. It ends, with every process of the sandbox, when the last client has left (unless
// --keep), when no command has run for the time of --idle, or at the time of --until.
//
//	pod [--offline] [--debuggers] [--file BYTES] [--linger SECONDS] [--keep] [--idle SECONDS] [--until UNIXTIME]
func Run(p process.Process, args []string) int {
	runtime.GOMAXPROCS(1) // as in package supervisor
	o, err := parsePod(args)
	if err != nil {
		return p.Usage()
	}
	// Only processes of the pod can send these signals. A signal that is caught, not ignored, has its default action in commands.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGXFSZ,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGPIPE)
	loopback, err := o.restrictions.apply()
	var at *entrance
	if err == nil {
		at, err = openEntrance()
	}
	h := &host{options: o, ended: make(chan struct{}), log: slog.New(slog.NewTextHandler(os.Stderr, nil)), started: time.Now(), rested: time.Now()}
	if err == nil {
		h.server, err = session.NewServer(session.Options{
			Runner: []string{layout.Program, supervisor.RunnerCommand}, Inside: supervisor.OwnCommands(p.Env), Busy: h.count, Operation: h.operate, Loopback: loopback, Container: true,
		})
	}
	if err != nil {
		return p.Fail(process.ExitRefused, err.Error())
	}
	streams := &link.Server{Linger: o.linger, Serve: h.serve}
	go at.admit(streams.Take)
	if o.keep {
		h.log.Info("started")
	}
	h.wait()
	return 0
}

// options are the arguments of the operation pod.
type options struct {
	restrictions restrictions
	linger       time.Duration // how long a client's commands wait after its stream broke
	keep         bool          // the process continues without clients; otherwise it has one client and ends with it
	idle         time.Duration // the process ends when no command has run for this time; 0: never
	until        time.Time     // the process ends at this time, but not while a command runs; zero: never
}

func parsePod(args []string) (o options, err error) {
	flags := map[string]*bool{"--offline": &o.restrictions.deny.Offline, "--debuggers": &o.restrictions.deny.Debuggers, "--keep": &o.keep}
	var idle, linger, until uint64
	numbers := map[string]*uint64{"--file": &o.restrictions.file, "--idle": &idle, "--linger": &linger, "--until": &until}
	for len(args) > 0 {
		name := args[0]
		args = args[1:]
		if flag := flags[name]; flag != nil {
			*flag = true
			continue
		}
		number := numbers[name]
		if number == nil || len(args) == 0 {
			return o, fmt.Errorf("unknown argument %q", name)
		}
		bits := 33 // seconds
		if name == "--file" {
			bits = 63
		}
		if *number, err = strconv.ParseUint(args[0], 10, bits); err != nil {
			return o, err
		}
		args = args[1:]
	}
	o.idle, o.linger = time.Duration(idle)*time.Second, time.Duration(linger)*time.Second
	if until > 0 {
		o.until = time.Unix(int64(until), 0)
	}
	return o, nil
}

// restrictions are those that no field of a pod can request.
type restrictions struct {
	deny seccomp.DenyOptions
	file uint64 // limit of a file's size in bytes; 0: the container's
}

// apply restricts this process and its children. This process is included so that no unrestricted thread can start a program.
// Offline, it returns a loopback that listens for the sandbox.
func (w restrictions) apply() (loopback func(port uint16) (net.Listener, error), err error) {
	_ = rlimit.SuppressCore(0)
	if w.file > 0 {
		if err := rlimit.Lower(0, unix.RLIMIT_FSIZE, w.file); err != nil {
			return nil, fmt.Errorf("limit files: %w", err)
		}
	}
	if w.deny.Offline {
		at, err := guard.NewLoopback(w.deny)
		if err == nil {
			return at.Listen, nil
		}
		// Without the loopback commands have less access, not more.
		loopback = func(uint16) (net.Listener, error) {
			return nil, sandbox.Errorf(sandbox.Unsupported, "a pod without a network has no loopback here: %w", err).WithHint("listen on unix:/PATH")
		}
	}
	deny, err := seccomp.Deny(runtime.GOARCH, w.deny)
	if err == nil {
		err = deny.InstallEverywhere()
	}
	if err != nil {
		return nil, fmt.Errorf("seccomp cannot be used in this pod: %w", err)
	}
	return loopback, nil
}

// host serves the sessions of a pod and counts its commands.
type host struct {
	options options
	server  *session.Server
	log     *slog.Logger
	started time.Time

	mu      sync.Mutex
	served  int           // sessions
	running int           // commands
	change  chan struct{} // closed when a count changes
	rested  time.Time     // when the last command ended
	last    sync.Once
	ended   chan struct{} // closed when the pod is to end
}

// serve serves one client.
func (h *host) serve(conn *link.Conn) {
	h.add(&h.served, 1)
	_ = h.server.Serve(conn) // the client reports the error
	h.add(&h.served, -1)
}

// count counts a command that begins (1), or whose end the client knows (-1).
func (h *host) count(n int) { h.add(&h.running, n) }

func (h *host) add(to *int, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*to += n
	if to == &h.served && h.served == 0 && !h.options.keep {
		h.end()
	}
	if to == &h.running {
		h.rested = time.Now()
	}
	if h.change != nil {
		close(h.change)
		h.change = nil
	}
}

func (h *host) end() { h.last.Do(func() { close(h.ended) }) }

// wait waits until the sandbox must end.
func (h *host) wait() {
	for {
		idle, over, change := h.timers()
		select {
		case <-h.ended:
			return
		case <-idle:
			h.log.Info("no command ran for " + h.options.idle.String())
			return
		case <-over:
			h.log.Info("its time is over")
			return
		case <-change:
		}
	}
}

// timers returns the timers that run while no command does.
func (h *host) timers() (idle, over <-chan time.Time, change <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.change = make(chan struct{})
	if h.running > 0 {
		return nil, nil, h.change
	}
	if h.options.idle > 0 {
		idle = time.After(time.Until(h.rested.Add(h.options.idle)))
	}
	if !h.options.until.IsZero() {
		over = time.After(time.Until(h.options.until))
	}
	return idle, over, h.change
}

// operate executes an operation that is not a command.
func (h *host) operate(ctx context.Context, name string, _ json.RawMessage, answer io.Writer) error {
	switch name {
	case OpStatus:
		h.mu.Lock()
		state := State{Running: h.running, Started: h.started}
		h.mu.Unlock()
		state.Frozen = h.server.IsFrozen()
		return json.NewEncoder(answer).Encode(state)
	case OpKill:
		h.server.KillAll()
		return nil
	case OpEnd:
		h.server.KillAll()
		h.log.Info("stopped")
		h.end()
		<-ctx.Done()
		return nil
	}
	return sandbox.Errorf(sandbox.Unsupported, "unknown operation %.50q", name)
}
