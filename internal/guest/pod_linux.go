package guest

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
	"github.com/seed434b0696/agent-sandbox/internal/guest/link"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// pod is the first process of a pod, and its supervisor: it puts the walls on itself that no field of a pod asks for, and
// serves whoever joins. It ends, and everything with it, when nobody is left to serve (see --keep), when the sandbox was
// idle for long enough, or its time is over.
//
//	pod [--offline] [--debuggers] [--file BYTES] [--linger SECONDS] [--keep] [--idle SECONDS] [--until UNIXTIME]
func (p process) pod(args []string) int {
	runtime.GOMAXPROCS(1) // as in serve
	o, err := parsePod(args)
	if err != nil {
		return p.usage()
	}
	// Whoever asks it to end is inside. What is caught, and not ignored, is not so for commands.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGXFSZ,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGPIPE)
	loopback, err := o.walls.put()
	var at *door
	if err == nil {
		at, err = openDoor()
	}
	h := &host{options: o, ended: make(chan struct{}), log: slog.New(slog.NewTextHandler(os.Stderr, nil)), started: time.Now(), rested: time.Now()}
	if err == nil {
		h.server, err = session.NewServer(session.Options{
			Runner: []string{Program, runnerCommand}, Inside: p.inside, Busy: h.count, Operation: h.operate, Loopback: loopback,
		})
	}
	if err != nil {
		return p.fail(exitRefused, err.Error())
	}
	streams := &link.Server{Linger: o.linger, Serve: h.serve}
	go at.admit(streams.Take)
	if o.keep {
		h.log.Info("started")
	}
	h.wait()
	return 0
}

// podOptions are the arguments of pod.
type podOptions struct {
	walls  podWalls
	linger time.Duration // what runs for a client whose stream broke waits so long for the next one
	keep   bool          // it stays when all clients have gone; otherwise there is one client, and it ends with that
	idle   time.Duration // it ends when no command has run for so long; 0: never
	until  time.Time     // it ends then, but not while a command runs; zero: never
}

func parsePod(args []string) (o podOptions, err error) {
	flags := map[string]*bool{"--offline": &o.walls.deny.Offline, "--debuggers": &o.walls.deny.Debuggers, "--keep": &o.keep}
	var idle, linger, until uint64
	numbers := map[string]*uint64{"--file": &o.walls.file, "--idle": &idle, "--linger": &linger, "--until": &until}
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

// podWalls are those that no field of a pod asks for.
type podWalls struct {
	deny seccomp.DenyOptions
	file uint64 // bytes; 0: as the pod has it
}

// put puts the walls on this process and on all that it starts. They are on it, too, so that there is no thread
// without them to start anything from. Offline, loopback stands for the network that nobody has.
func (w podWalls) put() (loopback func(port uint16) (net.Listener, error), err error) {
	core := unix.Rlimit{Cur: 1, Max: 1} // the host's handler of core dumps gets none (core(5))
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &core)
	if w.file > 0 {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: w.file, Max: w.file}); err != nil {
			return nil, os.NewSyscallError("limit files", err)
		}
	}
	if w.deny.Offline {
		at, err := guard.NewLoopback(w.deny)
		if err == nil {
			return at.Listen, nil
		}
		// Without it there is less to reach, not more.
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

// host is what a pod's guest knows of those whom it serves.
type host struct {
	options podOptions
	server  *session.Server
	log     *slog.Logger
	started time.Time

	mu      sync.Mutex
	served  int           // sessions
	running int           // commands
	change  chan struct{} // closed when that changes
	rested  time.Time     // when the last command ended
	last    sync.Once
	ended   chan struct{} // closed when the last session of one that is not kept has ended, or somebody wants the end
}

// serve serves one client.
func (h *host) serve(conn *link.Conn) {
	h.add(&h.served, 1)
	_ = h.server.Serve(conn) // its end is the client's affair
	h.add(&h.served, -1)
}

// count notes that a command has begun or that its end has been told.
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

// wait returns when the sandbox is to end.
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

// timers are those that count while nothing runs.
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

// operate does what is not a command.
func (h *host) operate(ctx context.Context, name string, _ json.RawMessage, answer io.Writer) error {
	switch name {
	case PodStatus:
		h.mu.Lock()
		state := PodState{Running: h.running, Started: h.started}
		h.mu.Unlock()
		return json.NewEncoder(answer).Encode(state)
	case PodKill:
		h.server.KillAll()
		return nil
	case PodEnd:
		h.server.KillAll()
		h.log.Info("stopped")
		h.end()
		<-ctx.Done()
		return nil
	case PodStill:
		h.count(1) // it is not idle
		defer h.count(-1)
		defer h.server.Still()()
		if _, err := io.WriteString(answer, PodStill+"\n"); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	return sandbox.Errorf(sandbox.Unsupported, "no operation %.50q", name)
}
