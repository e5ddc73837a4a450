//go:build linux

package bwrap

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap/limits"
	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guard/planned"
	"github.com/seed434b0696/agent-sandbox/internal/guest/arglist"
	"github.com/seed434b0696/agent-sandbox/internal/guest/confine"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Start runs cmd in namespaces of its own.
func (i *instance) Start(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	if i.spec.Resident {
		return i.startResident(ctx, cmd, stdio)
	}
	if cmd.TTY != nil {
		return nil, sandbox.Errorf(sandbox.Unsupported, "only a resident sandbox has terminals")
	}
	if cmd.Leave {
		return nil, sandbox.Errorf(sandbox.Unsupported, "only a resident sandbox continues after its command")
	}
	return i.startWith(ctx, cmd, stdio, func(p *policy.Plan) *policy.Plan { return p })
}

func (i *instance) startWith(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio, adapt func(*policy.Plan) *policy.Plan) (sandbox.Process, error) {
	start := func() (*process, error) { return i.startOnce(ctx, cmd, stdio, adapt) }
	p, err := start()
	for left := attempts - 1; left > 0 && errors.Is(err, errReplaced); left-- {
		p, err = start()
	}
	if err != nil {
		return nil, err
	}
	return &restarting{start: start, now: p}, nil
}

func (i *instance) startOnce(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio, adapt func(*policy.Plan) *policy.Plan) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	plan, err := i.nextPlan()
	if err != nil {
		return nil, err
	}
	staged, err := i.onStage(plan, cmd)
	if err != nil {
		return nil, err
	}
	p, err := i.launch(ctx, adapt(staged.adapt(plan)), staged, cmd, stdio, nil)
	if err != nil {
		return nil, errors.Join(err, staged.leave())
	}
	return p, nil
}

// launch builds the isolation and starts cmd inside. cmd inherits socket, if any, and gets its descriptor number as one
// more argument.
func (i *instance) launch(ctx context.Context, plan *policy.Plan, on *staged, cmd sandbox.Cmd, stdio sandbox.Stdio, socket *os.File) (*process, error) {
	if err := checkCmd(plan, cmd, on); err != nil {
		return nil, err
	}
	if err := i.checkProgram(plan, cmd, i.environment(plan, cmd, nil), on); err != nil {
		return nil, err
	}
	p := &process{instance: i, name: cmd.Args[0], ended: make(chan struct{}), terminal: isOnTerminal(stdio), staged: on, socket: socket, plan: plan, mounts: -1}
	var err error
	held := plan.Limits
	if socket != nil && held.Pids > 0 {
		held.Pids += session.Processes // the guest's, which the limit of commands would include otherwise
	}
	if p.limits, err = limits.New(held); err != nil {
		return nil, err
	}
	if p.network, err = i.openNetwork(ctx, plan); err != nil {
		return nil, errors.Join(err, p.limits.Close())
	}
	p.reporter = planned.NewReporter(plan, i.driver.options.Denied)
	rules := planned.Rules(plan)
	rules.Reads = i.driver.options.Record
	if p.agents, err = i.serveAgents(ctx, plan, p.reporter); err != nil {
		p.network.close()
		return nil, errors.Join(err, p.limits.Close())
	}
	confines := canConfine(plan)
	o := guard.Options{Rules: rules, Redirection: p.network.redirection(), Appeared: p.appeared, Refused: func(f guard.Refusal) { p.reporter.Refused(p.network.name(f)) }}
	if plan.Userns {
		o.First = p.first
	}
	p.deny = denyOptions(plan)
	if confines { // no process has the commands' program without the guard's
		p.deny.Reported = true
		o.Reported = &p.deny
	} else {
		o.Standing = p.isBuilt
	}
	p.guard = guard.New(o)
	on.watch(p.guard)
	asks, err := p.guard.Program()
	if err == nil && confines {
		p.confined, err = newConfined(asks)
	}
	if err != nil {
		p.agents.close()
		p.network.close()
		return nil, errors.Join(err, p.limits.Close())
	}
	if err := p.start(ctx, plan, cmd, stdio, asks); err != nil {
		p.confined.close()
		p.agents.close()
		p.network.close()
		return nil, errors.Join(err, p.limits.Close())
	}
	return p, nil
}

// start forks bubblewrap. asks is the guard's program.
func (p *process) start(ctx context.Context, plan *policy.Plan, cmd sandbox.Cmd, stdio sandbox.Stdio, asks seccomp.Program) error {
	i := p.instance
	filter, send, err := blockingPipe()
	if err != nil {
		return err
	}
	defer send.Close()
	const first = 3
	// A pinned descriptor refers to the workspace itself, not to a stage's view.
	tmp, err := i.ensureTmp(plan, p.network.files())
	if err != nil {
		_ = filter.Close()
		return err
	}
	v, err := newInvocation(plan, invocationOptions{
		tool: i.tool, guest: i.guest, dir: startDir(plan, cmd), tmp: tmp, agents: p.agents.list(), gnupg: plan.GPGAgent.Home, files: p.network.files(), filter: filter, first: first, pinned: p.staged == nil,
	})
	if err != nil {
		_ = filter.Close()
		return err
	}
	p.pins = v.mounted
	files, err := v.open()
	defer func() { closeAll(files) }()
	if err != nil {
		v.close()
		return err
	}
	if p.status, err = newStatus(); err != nil {
		return err
	}
	p.status.child = p.begun
	v.add(p.status.args(first + len(files))...)
	c := &exec.Cmd{
		Path: i.tool.path, Env: i.environment(plan, cmd, p.network), Dir: "/",
		ExtraFiles:  append(slices.Clone(files), p.status.childEnds()...),
		SysProcAttr: &syscall.SysProcAttr{Setpgid: !p.terminal, PidFD: &p.bwrapFD},
	}
	if !p.terminal {
		v.add("--new-session")
	}
	if p.staged != nil {
		v.add("--sync-fd", strconv.Itoa(first+len(c.ExtraFiles)))
		c.ExtraFiles = append(c.ExtraFiles, p.staged.use.File())
	}
	if p.socket != nil {
		cmd.Args = append(slices.Clone(cmd.Args), strconv.Itoa(first+len(c.ExtraFiles)))
		c.ExtraFiles = append(c.ExtraFiles, p.socket)
	}
	line := commandLine(cmd, p.terminal, p.network.init(first+len(c.ExtraFiles)))
	if n := plan.Limits.Pids; len(line) > len(cmd.Args) && n > 0 && n < guestThreads {
		p.status.close()
		return sandbox.Errorf(sandbox.Invalid, "limits.pids of %d is too few to prepare the network or the terminal inside", n).
			WithHint("at least %d", guestThreads)
	}
	c.ExtraFiles = append(c.ExtraFiles, p.network.inherited()...)
	if p.confined != nil {
		line = confine.Line(first+len(c.ExtraFiles), searchPath(c.Env), line)
		c.ExtraFiles = append(c.ExtraFiles, p.confined.guest)
	}
	arguments, err := setArguments(c, v.args, line, first+len(c.ExtraFiles))
	if err != nil {
		p.status.close()
		return err
	}
	defer arguments.Close()
	if p.terminal {
		ignoreJobSignals(c)
	}
	p.staged.wrap(c, i.guest)
	i.driver.traceArgs(v.args)
	if err := p.connect(c, plan, stdio); err != nil {
		p.status.close()
		return err
	}
	if err := i.add(p); err != nil {
		p.abandon()
		return err
	}
	p.mounts = openMountTable()
	if err := p.fork(ctx, c, asks, func() error { return sendFilter(send, p.deny) }); err != nil {
		i.remove(p)
		p.abandon()
		return startError(err)
	}
	return nil
}

// maxArguments is less than what bubblewrap takes, its own name and what options add up to included: 9,000.
const maxArguments = 8900

// setArguments sets bubblewrap's command line to options and line. If these are more than bubblewrap takes, the guest gets line in the
// file that is returned, whose descriptor inside is fd; else that is nil.
func setArguments(c *exec.Cmd, options, line []string, fd int) (arguments *os.File, err error) {
	if len(options)+len(line) > maxArguments {
		if len(options)+len(arglist.Line(fd)) > maxArguments {
			return nil, sandbox.Errorf(sandbox.Invalid, "the policy needs %d arguments of bubblewrap for its mounts; expected at most %d", len(options), maxArguments).
				WithHint("start in a directory with fewer git repositories below it, or name fewer paths in the policy; 'agent-sandbox explain' lists them")
		}
		if arguments, err = memfile(arglist.Encode(line)); err != nil {
			return nil, sandbox.Errorf(sandbox.Unavailable, "the command's arguments: %w", err)
		}
		c.ExtraFiles = append(c.ExtraFiles, arguments)
		line = arglist.Line(fd)
	}
	c.Args = slices.Concat([]string{"bwrap"}, options, []string{"--"}, line)
	return arguments, nil
}

// guestThreads is an upper bound of the guest's processes and threads before it executes the
// command.
const guestThreads = 8

// commandLine returns what bubblewrap executes. Bubblewrap searches a name in PATH like
// checkProgram (execvp(3)), so that the command keeps its argv 0. If there is a network or a
// terminal to prepare inside, the guest does that and executes the command.
func commandLine(cmd sandbox.Cmd, terminal bool, network []string) []string {
	options := network
	if terminal {
		options = append([]string{"--tty"}, options...)
	}
	if len(options) == 0 {
		return cmd.Args
	}
	return slices.Concat([]string{layout.Program, "init"}, options, []string{"--"}, cmd.Args)
}

// ignoreJobSignals starts bubblewrap with the signals ignored that are sent to a whole job by
// the terminal's keys, by "kill %1" and by a hangup: bubblewrap shares the command's process
// group, and its death would kill everything. The guest restores them before it executes the
// command.
func ignoreJobSignals(c *exec.Cmd) {
	c.Args = append([]string{"sh", "-c", `trap "" HUP INT QUIT TERM; exec "$@"`, "sh", c.Path}, c.Args[1:]...)
	c.Path = "/bin/sh"
}

// denyOptions returns the options of the commands' system call filter.
func denyOptions(plan *policy.Plan) seccomp.DenyOptions {
	return seccomp.DenyOptions{Userns: plan.Userns, Debuggers: plan.Debug}
}

// sendFilter writes the program of the commands' system call filter, all of it or nothing. Bubblewrap reads up to the pipe's
// end, and does not execute the command without a program.
func sendFilter(pipe *os.File, deny seccomp.DenyOptions) error {
	program, err := seccomp.Deny(runtime.GOARCH, deny)
	if err == nil {
		_, err = pipe.Write(program.Bytes())
	}
	return errors.Join(err, pipe.Close())
}

// fork starts c on a thread of its own, which has the guard's seccomp program asks unless the guest installs it. The thread lives until c
// has been waited for: the kernel kills bubblewrap with the thread that has started it (PR_SET_PDEATHSIG in prctl(2)).
// Meanwhile it calls prepare, which makes what bubblewrap needs later.
func (p *process) fork(ctx context.Context, c *exec.Cmd, asks seccomp.Program, prepare func() error) error {
	// Descriptors above 2 that this process has inherited must not leak inside.
	if err := session.CloseOnExec(); err != nil {
		return err
	}
	started := make(chan error, 1)
	go func() {
		// Never unlocked: the thread ends here, with its filter.
		runtime.LockOSThread()
		var l *guard.Listener
		var err error
		if p.confined == nil {
			l, err = guard.Listen(asks)
		}
		if err != nil {
			started <- sandbox.Errorf(sandbox.Unavailable, "the guard cannot be installed: %w", err).
				WithHint("run 'agent-sandbox doctor' for the layer that forbids it")
			return
		}
		// With a listener the guard now also receives this thread's own calls, such as the execution of bubblewrap.
		go p.watch(l)
		err = c.Start()
		p.status.closeChildEnds()
		p.confined.closeGuest()
		if err == nil {
			p.started(ctx, c)
		}
		close(p.settled)
		one := [8]byte{1}
		_, _ = unix.Write(p.launched, one[:]) // an eventfd never blocks here
		if err == nil {
			started <- nil
		}
		<-p.reaped
		if err != nil {
			started <- err
		}
	}()
	unprepared := prepare()
	err := <-started
	if err == nil && unprepared != nil {
		p.fail(sandbox.Errorf(sandbox.Unavailable, "the system call filter: %w", unprepared))
		p.kill()
	}
	return err
}

func startError(err error) error {
	if _, ok := errors.AsType[*sandbox.Error](err); ok {
		return err
	}
	if errors.Is(err, unix.E2BIG) {
		return sandbox.Errorf(sandbox.Invalid, "the command line is longer than this system allows: %w", err).
			WithHint("pass long input through a file or standard input")
	}
	return sandbox.Errorf(sandbox.Unavailable, "start bubblewrap: %w", err)
}

// checkCmd rejects arguments and variables that execve(2) cannot pass.
func checkCmd(plan *policy.Plan, cmd sandbox.Cmd, on *staged) error {
	for _, arg := range cmd.Args {
		if strings.ContainsRune(arg, 0) {
			return sandbox.Errorf(sandbox.Invalid, "argument %q contains a NUL byte", arg)
		}
	}
	for _, kv := range cmd.Env {
		if !strings.Contains(kv, "=") || strings.ContainsRune(kv, 0) || strings.HasPrefix(kv, "=") {
			return sandbox.Errorf(sandbox.Invalid, "environment entry %q is not NAME=VALUE", kv)
		}
	}
	if cmd.Dir == "" {
		return nil
	}
	if !strings.HasPrefix(cmd.Dir, "/") {
		return sandbox.Errorf(sandbox.Invalid, "working directory %q is not absolute", cmd.Dir)
	}
	if info, err := on.stat(cmd.Dir); !isHidden(plan, cmd.Dir) && (err != nil || !info.IsDir()) {
		return sandbox.Errorf(sandbox.NotFound, "working directory %s is not a directory", cmd.Dir)
	}
	return nil
}

// startDir returns the working directory of a command.
func startDir(plan *policy.Plan, cmd sandbox.Cmd) string {
	if cmd.Dir != "" {
		return cmd.Dir
	}
	return plan.Dir
}

// environment returns the plan's environment with the variables of the network, the guest's
// directory in front of PATH, and the command's own variables.
func (i *instance) environment(plan *policy.Plan, cmd sandbox.Cmd, n *network) []string {
	env := n.environment(slices.Clone(plan.Env))
	if plan.SSHAgent != "" {
		env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "SSH_AUTH_SOCK=") })
		env = append(env, "SSH_AUTH_SOCK="+layout.SSHAgent)
	}
	if plan.GPGAgent.Socket != "" {
		env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "GNUPGHOME=") })
		env = append(env, "GNUPGHOME="+layout.GnuPG)
	}
	path := searchPath(env)
	if path == "" {
		path = "/usr/local/bin:/usr/bin:/bin"
	}
	if plan.Network.Mode == sandbox.NetworkNone && len(i.spec.Env) > 0 {
		env = policy.OfflineEnv(env)
	}
	env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") })
	env = append(env, "PATH="+layout.Root+":"+path)
	for _, kv := range cmd.Env {
		name, _, _ := strings.Cut(kv, "=")
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		env = append(env, kv)
	}
	return env
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
