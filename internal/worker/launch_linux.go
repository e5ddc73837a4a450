package worker

import (
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap/limits"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// launch starts the process and returns this end of its connection. The process inherits the other end and its standard
// error, and no variables.
func (w *worker) launch() (net.Conn, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "worker"), os.NewFile(uintptr(pair[1]), "worker")
	defer ours.Close()
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}
	if err := session.CloseOnExec(); err != nil {
		_ = conn.Close()
		return nil, err
	}
	w.cmd = exec.Command(w.options.Program[0], w.options.Program[1:]...) //nolint:noctx // it serves many requests
	w.cmd.Dir, w.cmd.Env, w.cmd.Stderr, w.cmd.ExtraFiles = "/", []string{}, &w.errors, []*os.File{theirs}
	// Its own session: the terminal's signals go to this process only, which ends the worker.
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL}
	started := make(chan error, 1)
	go w.run(started)
	if err := <-started; err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// run starts the process and waits for its end. The kernel kills the process with the thread that has started it (PR_SET_PDEATHSIG
// in prctl(2)), so this goroutine keeps its thread.
func (w *worker) run(started chan<- error) {
	runtime.LockOSThread() // never unlocked
	if err := w.cmd.Start(); err != nil {
		started <- err
		return
	}
	group := w.group()
	started <- nil
	_ = w.cmd.Wait() // ProcessState contains the result
	w.limit = group.Reason()
	_ = group.Close() // the sweep of the next start removes remaining groups
	close(w.ended)
}

// group puts the process into a cgroup, if this host provides one. The worker itself sets the limit that always
// applies.
func (w *worker) group() *limits.Limits {
	none := &limits.Limits{}
	group, err := limits.New(policy.Limits{
		Limits: sandbox.Limits{Memory: w.options.Memory}, Required: map[string]string{"memory": "the worker"},
	})
	if err != nil {
		return none
	}
	if err := group.Attach(0, w.cmd.Process.Pid); err != nil {
		_ = group.Close() // it may not exist
		return none
	}
	return group
}
