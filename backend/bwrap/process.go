//go:build linux

package bwrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap/limits"
	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guard/planned"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// process is a running command in namespaces of its own.
type process struct {
	instance *instance
	guard    *guard.Guard
	reporter *planned.Reporter
	limits   *limits.Limits
	network  *network
	agents   *agents  // nil: none is served
	staged   *staged  // nil: not on a stage
	socket   *os.File // the command inherits it; nil: none
	status   *status
	deny     seccomp.DenyOptions // of the commands' filter
	confined *confined           // nil: the thread that starts bubblewrap has the guard's program
	plan     *policy.Plan
	left     *leftovers // nil: not looked for
	command  *exec.Cmd
	null     *os.File      // open until bubblewrap has inherited it
	terminal bool          // the command shares the caller's terminal, session and process group
	feeds    bool          // a goroutine copies the command's input
	mounts   mountTable    // opened right before the start
	pins     []pin         // what is mounted by descriptor
	name     string        // argv 0 of the command
	bwrapFD  int           // pidfd of bubblewrap
	launched int           // eventfd, written once when bubblewrap runs or could not be started
	settled  chan struct{} // closed right before that

	ended  chan struct{} // closed when all processes have ended
	reaped chan struct{} // closed when bubblewrap has been waited for
	stop   func() bool   // stops kill from being called at the context's end

	mu      sync.Mutex
	child   int            // host PID of the sandbox's first process, 0 before it is known
	pidfd   int            // of child, or -1
	killed  bool           // kill was called
	early   syscall.Signal // it killed the command before the command existed; 0: none
	sent    syscall.Signal // the last one that was sent to the command; 0: none
	reason  string         // of the kill
	offline error          // of the network, or nil
	unbuilt bool           // bubblewrap failed while the host's mounts or files changed
	exit    sandbox.Exit
	err     error
}

// abandon releases what connect and newStatus have opened, after a failed start.
func (p *process) abandon() {
	_, _ = p.null.Close(), unix.Close(p.launched)
	p.mounts.close()
	p.status.close()
	p.confined.close()
	close(p.ended)
}

func (p *process) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = errors.Join(p.err, err)
}

// started is called on the thread that has started bubblewrap, before watch handles events.
func (p *process) started(ctx context.Context, c *exec.Cmd) {
	_ = p.null.Close()
	p.network.closeChildEnds()
	p.network.serve(ctx, p.networkFailed)
	p.mu.Lock()
	p.command = c
	p.mu.Unlock()
	p.stop = context.AfterFunc(ctx, p.kill)
}

// watch handles the sandbox's events from before its start to its end. One thread handles all
// of them: waking another one would cost a start some 100 µs.
func (p *process) watch(l *guard.Listener) {
	g := p.guard
	var events []guard.Event
	if p.confined != nil { // before the others: the listener comes before what bubblewrap reports of the command
		events = append(events, guard.Event{FD: p.confined.host, Ready: func() bool {
			p.confined.receive(g)
			p.agents.unlink()
			p.lookForLeftovers()
			return false
		}})
	}
	g.Serve(l, append(events, guard.Event{FD: p.launched, Ready: func() bool {
		<-p.settled // orders the writes of the starting thread before this
		if p.command == nil {
			g.End() // bubblewrap could not be started
			return false
		}
		g.Add(guard.Event{FD: int(p.status.read.Fd()), Ready: p.status.receive})
		g.Add(guard.Event{FD: p.bwrapFD, Ready: func() bool { g.End(); return false }})
		return false
	}})...)
	if p.command == nil {
		if l != nil {
			_ = l.Close()
		}
		close(p.reaped)
		return
	}
	err := p.command.Wait() // also for the copies of its output
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		p.fail(err)
	}
	close(p.reaped)
	p.stop()
	p.status.drain()
	p.finish()
	p.instance.remove(p)
	close(p.ended)
}

// isBuilt reports whether bubblewrap has built the isolation; until then only bubblewrap itself asks the guard.
func (p *process) isBuilt() bool { return p.status.isBuilt() }

// first returns the PID of the sandbox's first process once there is one.
func (p *process) first() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.child
}

// begun is called once, with the PID of the sandbox's first process.
func (p *process) begun(pid int) {
	pid, err := p.staged.hostPID(p.command.Process.Pid, pid)
	if err != nil {
		p.fail(sandbox.Errorf(sandbox.Unavailable, "the sandbox's first process: %w", err))
		p.kill()
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		fd = -1
	}
	p.mu.Lock()
	p.child, p.pidfd = pid, fd
	killed := p.killed
	p.mu.Unlock()
	if killed {
		p.kill()
		return
	}
	if err := p.limits.Attach(p.command.Process.Pid, pid); err != nil {
		p.fail(sandbox.Errorf(sandbox.Unavailable, "limits: %w", err))
		p.kill()
		return
	}
	if err := p.status.release(); err != nil {
		p.kill() // it has ended already; finish records how
	}
}

// networkFailed kills a sandbox whose network has failed, because it must not run without its network. The error of a sandbox
// that was killed before is not recorded.
func (p *process) networkFailed(err error) {
	p.mu.Lock()
	if !p.killed {
		p.offline = err
	}
	p.mu.Unlock()
	p.kill()
}

// finish records how the command ended and releases everything, after bubblewrap has ended.
func (p *process) finish() {
	p.awaitGone()
	p.guard.Close()
	if p.left.close() {
		p.instance.driver.options.TmpLeft()
	}
	p.agents.close()
	p.reporter.Again()
	p.network.close()
	reason := p.limits.Reason()
	err := errors.Join(p.limits.Close(), p.staged.leave())
	built, code := p.status.isBuilt(), p.status.code
	if !p.status.known {
		code = p.command.ProcessState.ExitCode() // bubblewrap does not report that of a process that it had not executed
	}
	p.status.close()
	unconfined := p.confined.failure(p.name)
	p.confined.close()
	_, _ = unix.Close(p.bwrapFD), unix.Close(p.launched)
	unbuilt := !built && !p.status.known && p.command.ProcessState.Exited() && (p.mounts.hasChanged() || isReplaced(p.pins))
	p.mounts.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pidfd >= 0 {
		_ = unix.Close(p.pidfd)
		p.pidfd = -1
	}
	p.child = 0
	p.err = errors.Join(p.err, err)
	if p.reason == "" {
		p.reason = reason
	}
	p.unbuilt = unbuilt
	if built || p.status.known { // otherwise notBuilt is the error
		p.err = errors.Join(p.err, p.offline)
	}
	switch {
	case p.sent != 0 && code == 128+int(p.sent): // before or after the guest became the command
		p.exit = sandbox.Exit{Code: code, Signal: int(p.sent), Reason: p.reason}
	case p.status.known && unconfined != nil && !p.killed:
		p.err = errors.Join(p.err, unconfined)
	case p.status.known:
		p.exit = sandbox.Exit{Code: code, Reason: p.reason}
		if code > 128 && code <= 128+64 {
			p.exit.Signal = code - 128
		}
	case p.early != 0:
		p.exit = sandbox.Exit{Code: 128 + int(p.early), Signal: int(p.early)}
	case p.err == nil && !built && p.terminal && jobSignal(p.command.ProcessState) != 0:
		// It came before the shell in front of bubblewrap ignored it.
		s := jobSignal(p.command.ProcessState)
		p.exit = sandbox.Exit{Code: 128 + int(s), Signal: int(s)}
	case p.offline != nil && !built:
		p.err = errors.Join(p.err, p.notBuilt())
	case p.killed || p.reason != "":
		p.exit = sandbox.Exit{Code: 128 + int(unix.SIGKILL), Signal: int(unix.SIGKILL), Reason: p.reason}
	case p.err == nil && built && !p.command.ProcessState.Exited():
		p.err = sandbox.Errorf(sandbox.Unavailable, "bubblewrap was killed from outside (%s), and the command with it", p.command.ProcessState)
	case p.err == nil && built:
		// The isolation was built, so execve(2) failed; bubblewrap printed the reason.
		p.err = execError(p.name, errNoExec)
	case p.err == nil:
		p.err = p.notBuilt()
	}
}

func (p *process) notBuilt() error {
	return sandbox.Errorf(sandbox.Unavailable, "bubblewrap could not build the sandbox (%s)", p.command.ProcessState).
		WithHint("run 'agent-sandbox doctor' for the layer that forbids it")
}

// awaitGone waits for the end of the sandbox's first process, which the kernel ends after all
// others (pid_namespaces(7)).
func (p *process) awaitGone() {
	p.mu.Lock()
	fd := p.pidfd
	p.mu.Unlock()
	if fd < 0 {
		return
	}
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(poll, int((10 * time.Second).Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// Wait returns when all processes have ended.
func (p *process) Wait() (sandbox.Exit, error) {
	<-p.ended
	return p.exit, p.err
}

// kill kills bubblewrap's first process, with which the kernel kills everything inside, and
// bubblewrap. Before bubblewrap has reported that process, kill only sets killed, and begun
// kills: a bubblewrap that is killed earlier would leave the process waiting forever.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killLocked()
}

// killLocked is kill for callers that hold the lock.
func (p *process) killLocked() {
	p.killed = true
	if p.child == 0 {
		return
	}
	if p.pidfd >= 0 {
		_ = unix.PidfdSendSignal(p.pidfd, unix.SIGKILL, nil, 0)
	}
	_ = p.command.Process.Kill()
}

// Signal sends sig to the command's process group; SIGKILL kills all processes.
func (p *process) Signal(sig os.Signal) error {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return sandbox.Errorf(sandbox.Invalid, "signal %v is not a signal of this system", sig)
	}
	if s == unix.SIGKILL {
		p.kill()
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	command, err := 0, error(unix.ESRCH)
	if p.child != 0 {
		command, err = firstChild(p.child)
	}
	if errors.Is(err, unix.ESRCH) { // it does not exist yet, or no more
		// While bubblewrap builds the isolation, the kernel would drop the signal. A process that gets one before it can
		// handle any dies of it.
		if p.early == 0 && endsByDefault(s) {
			p.early = s
			p.killLocked()
		}
		return nil
	}
	if err != nil {
		return nil // it has ended
	}
	pid := -p.child // it is the leader of the session that --new-session made
	if p.terminal {
		pid = command
	}
	p.sent = s
	if err := unix.Kill(pid, s); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}

// jobSignal returns the signal for a whole job that has ended a process; 0: none has.
func jobSignal(state *os.ProcessState) syscall.Signal {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return 0
	}
	switch s := status.Signal(); s { //nolint:exhaustive // ignoreJobSignals has the same
	case unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM:
		return s
	}
	return 0
}

// endsByDefault reports whether the default action of a signal ends a process (signal(7)).
func endsByDefault(s syscall.Signal) bool {
	switch s { //nolint:exhaustive // all others do
	case unix.SIGCHLD, unix.SIGURG, unix.SIGWINCH, unix.SIGCONT, unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		return false
	}
	return true
}

// firstChild returns the PID of the first child of a process: of bubblewrap's first process that
// is the command.
func firstChild(pid int) (int, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(data))
	if len(fields) == 0 {
		return 0, unix.ESRCH
	}
	return strconv.Atoi(fields[0])
}

// appeared is called by the guard when a guarded name exists. If a command created it in a race
// with the guard, appeared kills the sandbox and moves the file to the quarantine.
func (p *process) appeared(a guard.Appearance) {
	if !a.Raced {
		p.instance.driver.options.Trace("guard", a.Path+" appeared on the host")
		return
	}
	p.mu.Lock()
	p.reason = "it raced the guard to create " + a.Path
	p.mu.Unlock()
	p.kill()
	moved, err := quarantine(a, p.instance.driver.options.DataDir)
	if err != nil {
		p.fail(fmt.Errorf("%s was created in spite of a refusal and could not be moved away: %w", a.Path, err))
		return
	}
	p.mu.Lock()
	p.reason += ", which is now " + moved
	p.mu.Unlock()
}

// quarantine moves an entry to the directory of agent-sandbox's files that sandboxes do not see, or renames it if that is
// on another file system. It follows no link. It returns the new path.
func quarantine(a guard.Appearance, dataDir string) (string, error) {
	path := filepath.Join(dataDir, policy.QuarantineDir)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", err
	}
	dir, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(dir)
	name := strconv.FormatInt(time.Now().UnixNano(), 10) + "-" + a.Name
	if err = a.MoveTo(dir, name); errors.Is(err, unix.EXDEV) {
		name, err = a.MoveAside()
		return filepath.Join(filepath.Dir(a.Path), name), err
	}
	return filepath.Join(path, name), err
}
