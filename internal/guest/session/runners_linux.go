package session

import (
	"errors"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxIdle limits how many idle runners wait for commands.
const maxIdle = 4

// runners manages the living runners, and all other processes below this one.
type runners struct {
	line      []string
	container bool // see Options.Container
	fork      func(path string, line []string, attr *syscall.ProcAttr) (pid int, err error)

	mu     sync.Mutex
	look   func() bool // makes the guard check for raced files; nil: the session has no guard
	change *sync.Cond  // a process was started or reaped
	all    map[int]*runner
	idle   []*runner
	reaped uint64
	closed bool

	freezer *freezer
}

// runner is a process that holds all processes of one command.
type runner struct {
	pid  int
	link *os.File
	dead chan struct{} // closed when the runner was reaped
	own  bool          // under runners.mu: it runs an operation on files, which works in a frozen sandbox
}

func newRunners(line []string) *runners {
	s := &runners{line: line, fork: syscall.ForkExec, all: map[int]*runner{}}
	s.change = sync.NewCond(&s.mu)
	s.freezer = &freezer{runners: s}
	go s.reap()
	if os.Getpid() == 1 {
		go s.adopt()
	}
	return s
}

// adopt reaps the processes that the kernel re-parents to the first process of a container, also while that process has
// no child of its own.
func (s *runners) adopt() {
	died := make(chan os.Signal, 1)
	signal.Notify(died, unix.SIGCHLD)
	for range died {
		s.mu.Lock()
		s.change.Broadcast()
		s.mu.Unlock()
	}
}

// inspectWith sets a function that runs after each command, before the host learns of the command's end.
func (s *runners) inspectWith(look func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look = look
}

// inspect reports whether no command created a raced file.
func (s *runners) inspect() bool {
	s.mu.Lock()
	look := s.look
	s.mu.Unlock()
	return look == nil || look()
}

// through makes fork start all runners from now on, and ends the other runners. No command may run yet.
func (s *runners) through(fork func(path string, line []string, attr *syscall.ProcAttr) (pid int, err error)) {
	s.mu.Lock()
	s.fork = fork
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	for _, r := range idle {
		s.kill(r)
		_ = r.link.Close()
	}
	s.prepare()
}

// prepare starts a runner for the first command.
func (s *runners) prepare() {
	if r, err := s.start(false); err == nil {
		s.release(r)
	}
}

// acquire returns an idle runner, for a command or for an operation of our own.
func (s *runners) acquire(own bool) (*runner, error) {
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
		r := s.idle[n-1]
		s.idle = s.idle[:n-1]
		r.own = own
		s.mu.Unlock()
		return r, nil
	}
	s.mu.Unlock()
	return s.start(own)
}

// release takes back a runner without processes below it.
func (s *runners) release(r *runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.idle) >= maxIdle || s.all[r.pid] != r {
		_ = r.link.Close() // the runner ends
		return
	}
	s.idle = append(s.idle, r)
}

func (s *runners) start(own bool) (*runner, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(pair[0], true); err != nil { // this end is polled, the runner's end is not
		_, _ = unix.Close(pair[0]), unix.Close(pair[1])
		return nil, err
	}
	child := os.NewFile(uintptr(pair[1]), "runner")
	defer child.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		_ = unix.Close(pair[0])
		return nil, err
	}
	defer null.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = unix.Close(pair[0])
		return nil, errGone
	}
	pid, err := s.fork("/proc/self/exe", s.line, &syscall.ProcAttr{
		Dir: "/", Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), child.Fd()},
	})
	if err != nil {
		_ = unix.Close(pair[0])
		return nil, err
	}
	r := &runner{pid: pid, link: os.NewFile(uintptr(pair[0]), "runner"), dead: make(chan struct{}), own: own}
	s.all[pid] = r
	s.change.Broadcast()
	return r, nil
}

// reap waits for every child: runners, and processes that outlived their runner. The orphans of a runner become children of
// this process.
func (s *runners) reap() {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		s.mu.Lock()
		switch {
		case errors.Is(err, unix.ECHILD):
			if len(s.all) == 0 {
				s.change.Wait()
			}
		case err == nil:
			if r := s.all[pid]; r != nil {
				delete(s.all, pid)
				s.idle = slices.DeleteFunc(s.idle, func(i *runner) bool { return i == r })
				close(r.dead)
				go s.sweep()
			}
			s.reaped++
			s.change.Broadcast()
		}
		s.mu.Unlock()
	}
}

// kill kills a runner and all processes below it, and waits until none is left.
func (s *runners) kill(r *runner) {
	s.mu.Lock()
	if s.all[r.pid] == r {
		_ = unix.Kill(r.pid, unix.SIGKILL)
	}
	s.mu.Unlock()
	<-r.dead
	s.sweep()
}

// killAll kills all processes, and prevents new ones.
func (s *runners) killAll() {
	s.mu.Lock()
	s.closed = true
	var all []*runner
	for _, r := range s.all {
		all = append(all, r)
		_ = unix.Kill(r.pid, unix.SIGKILL)
	}
	s.mu.Unlock()
	for _, r := range all {
		<-r.dead
	}
	s.sweep()
}

// killRunning kills all running processes.
func (s *runners) killRunning() {
	s.mu.Lock()
	var all []*runner
	for _, r := range s.all {
		if !slices.Contains(s.idle, r) {
			all = append(all, r)
			_ = unix.Kill(r.pid, unix.SIGKILL)
		}
	}
	s.mu.Unlock()
	for _, r := range all {
		<-r.dead
	}
	s.sweep()
}

// sweep kills the processes below this one that are not below a living runner, until there are none. It stops all of
// them before it kills the first, because a stopped process cannot start a replacement.
func (s *runners) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		stopped := map[int]bool{}
		list := s.strays()
		for slices.ContainsFunc(list, func(pid int) bool { return !stopped[pid] }) {
			for _, pid := range list {
				if !stopped[pid] {
					stopped[pid] = true
					_ = unix.Kill(pid, unix.SIGSTOP)
				}
			}
			list = s.strays()
		}
		if len(list) == 0 {
			return
		}
		// The kernel continues the stopped jobs of a shell that ends before them.
		for _, pid := range slices.Backward(list) {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		// The goroutine that reaps the killed processes signals change.
		for seen := s.reaped; s.reaped == seen; {
			s.change.Wait()
		}
	}
}

// strays returns the processes below this one that are not below a living runner, parents before their children.
func (s *runners) strays() []int {
	children, _ := processTree()
	var out []int
	for todo := []int{os.Getpid()}; len(todo) > 0; todo = todo[1:] {
		for _, e := range children[todo[0]] {
			if s.all[e.pid] == nil {
				out = append(out, e.pid)
				todo = append(todo, e.pid)
			}
		}
	}
	return out
}

// commands returns the living processes of commands, parents before their children. complete is false if a process has ended
// meanwhile.
func (s *runners) commands() (list []entry, complete bool) {
	s.mu.Lock()
	all := map[int]bool{} // runner → it has processes of a command
	for pid, r := range s.all {
		all[pid] = !r.own && !slices.Contains(s.idle, r)
	}
	s.mu.Unlock()
	children, complete := processTree()
	for todo := []int{os.Getpid()}; len(todo) > 0; todo = todo[1:] {
		for _, e := range children[todo[0]] {
			busy, isRunner := all[e.pid]
			if isRunner && !busy {
				continue
			}
			todo = append(todo, e.pid)
			if !isRunner && !isDead(e) {
				list = append(list, e)
			}
		}
	}
	return list, complete
}

// isDead reports whether no thread of a process is left. Its first thread can have ended before others.
func isDead(e entry) bool {
	return (e.state == 'Z' || e.state == 'X') && len(numbers("/proc/"+strconv.Itoa(e.pid)+"/task")) <= 1
}

// spared returns the processes below this one that are not of commands, runners first. children are those of all processes.
func (s *runners) spared(children map[int][]entry) []int {
	s.mu.Lock()
	own := map[int]bool{}
	for pid, r := range s.all {
		own[pid] = r.own
	}
	s.mu.Unlock()
	out := slices.Collect(maps.Keys(own))
	for pid, is := range own {
		for todo := []int{pid}; is && len(todo) > 0; todo = todo[1:] {
			for _, e := range children[todo[0]] {
				out = append(out, e.pid)
				todo = append(todo, e.pid)
			}
		}
	}
	return out
}
