package virtual

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/hint"
	"github.com/seed434b0696/agent-sandbox/internal/memory/system"
	"github.com/seed434b0696/agent-sandbox/memory"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// instance is one sandbox: a tree, and what runs on it. Each command has a machine of its own, with
// its own processes.
type instance struct {
	driver   *Driver
	id       string
	spec     sandbox.Spec
	plan     *policy.Plan
	tree     *tree
	user     system.User
	limits   shell.Limits
	programs []shell.Command // programs in addition to those of every machine
	created  time.Time

	saved *savedFiles  // nil: the files end with the sandbox
	quiet sync.RWMutex // held for reading while a command is started

	netMu   sync.Mutex
	network *network // opened with the first command
	opened  bool

	mu      sync.Mutex
	closed  bool
	frozen  bool
	running map[*process]struct{}     // running commands, and those that have left background processes
	taken   map[string]memorySnapshot // by name; only when saved is nil
}

func (i *instance) ID() string { return i.id }

// Plan returns the plan.
func (i *instance) Plan() *policy.Plan { return i.plan }

// Limits returns the limits of the policy.
func (i *instance) Limits() (sandbox.Limits, error) { return i.plan.Limits.Limits, nil }

// Files accesses the tree with the rights of the user of commands.
func (i *instance) Files() sandbox.Files { return files{i} }

// Changes implements [Workspace].
func (i *instance) Changes() ([]Change, error) {
	list, err := i.tree.changes()
	return memory.NewChanges(list), err
}

// Apply implements [Workspace].
func (i *instance) Apply(ctx context.Context, o ApplyOptions) (Applied, error) {
	done, err := i.tree.apply(ctx, o)
	if err == nil && !o.DryRun {
		err = i.saved.commit(i.tree)
	}
	return done, err
}

// Discard implements [Workspace].
func (i *instance) Discard() error {
	var errs []error
	for _, m := range i.tree.mounts {
		errs = append(errs, m.Discard())
	}
	errs = append(errs, i.saved.commit(i.tree))
	return errors.Join(errs...)
}

// Status counts the running commands.
func (i *instance) Status(context.Context) (sandbox.Status, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := 0
	for p := range i.running {
		if !p.hasCommandEnded() {
			n++
		}
	}
	return sandbox.Status{
		Info:    sandbox.Info{ID: i.id, Name: i.spec.Name, Backend: i.driver.Name(), Workspace: i.plan.Workspace, Created: i.created},
		Running: n, Frozen: i.frozen,
	}, nil
}

// Close kills all commands and releases the tree.
func (i *instance) Close(ctx context.Context) error {
	i.mu.Lock()
	first := !i.closed
	i.closed = true
	i.mu.Unlock()
	i.kill()
	if !first {
		return nil
	}
	i.netMu.Lock()
	i.opened = true
	i.network.close()
	i.netMu.Unlock()
	err := i.saved.commit(i.tree)
	return errors.Join(err, i.saved.close(), i.driver.release(context.WithoutCancel(ctx), i.tree))
}

// Start runs cmd in a machine of its own.
func (i *instance) Start(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	if len(cmd.Args) == 0 || cmd.Args[0] == "" {
		return nil, sandbox.Errorf(sandbox.Invalid, "no command was given")
	}
	if cmd.TTY != nil {
		return nil, sandbox.Errorf(sandbox.Unsupported, "a sandbox in memory has no terminals")
	}
	if err := checkText(cmd); err != nil {
		return nil, err
	}
	i.quiet.RLock()
	defer i.quiet.RUnlock()
	dir, err := i.startDir(cmd)
	if err != nil {
		return nil, err
	}
	if err := i.openNetwork(ctx); err != nil {
		return nil, err
	}
	sh := i.newShell(cmd.Env, dir)
	if _, err := sh.LookPath(cmd.Args[0]); err != nil {
		sh.Close()
		return nil, execError(cmd.Args[0], err)
	}
	p := &process{instance: i, shell: sh, ended: make(chan struct{})}
	if err := i.add(p); err != nil {
		sh.Close()
		return nil, err
	}
	go p.run(ctx, cmd, stdio)
	return p, nil
}

// openNetwork opens the network before the first command. It may ask the user for a passphrase, which a file operation must
// not do.
func (i *instance) openNetwork(ctx context.Context) error {
	i.netMu.Lock()
	defer i.netMu.Unlock()
	if i.opened {
		return nil
	}
	n, err := openNetwork(ctx, i.plan, networkOptions{HostEnv: i.spec.Env, Denied: i.driver.options.Denied})
	if err != nil {
		return err
	}
	if err := i.tree.give(n.files()); err != nil {
		n.close()
		return err
	}
	i.network, i.opened = n, true
	i.programs = append(i.programs, n.commands()...)
	return nil
}

// newShell returns a machine on the tree.
func (i *instance) newShell(env []string, dir string) *shell.Shell {
	return system.NewShell(shell.Options{
		FS: i.tree.fs, Cred: i.user.Cred(), Env: system.SearchPath(system.Environment(i.network.environ(i.plan.Env), env)), Dir: dir,
		Commands: i.programs, Limits: i.limits, Now: i.driver.options.Now,
	})
}

func (i *instance) add(p *process) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	if i.frozen {
		return sandbox.Frozen()
	}
	for old := range i.running {
		if old.hasCommandEnded() && old.hasEnded() { // its background processes have ended meanwhile
			old.shell.Close()
			delete(i.running, old)
		}
	}
	i.running[p] = struct{}{}
	return nil
}

// checkText rejects NUL bytes, which execve(2) cannot pass either.
func checkText(cmd sandbox.Cmd) error {
	for _, s := range slices.Concat(cmd.Args, cmd.Env, []string{cmd.Dir}) {
		if strings.IndexByte(s, 0) >= 0 {
			return sandbox.Errorf(sandbox.Invalid, "a NUL byte in %.40q", s)
		}
	}
	return nil
}

func (i *instance) startDir(cmd sandbox.Cmd) (string, error) {
	dir := i.abs(cmd.Dir)
	info, err := i.tree.fs.Stat(i.user.Cred(), dir)
	switch {
	case errors.Is(err, syscall.ENOENT), err == nil && !info.IsDir():
		return "", sandbox.Errorf(sandbox.NotFound, "the directory %q does not exist in the sandbox", dir)
	case err != nil:
		return "", err
	}
	return dir, nil
}

// abs returns the absolute path of name, relative to the sandbox's start directory.
func (i *instance) abs(name string) string {
	switch {
	case name == "":
		return i.plan.Dir
	case strings.HasPrefix(name, "/"):
		return name
	}
	return strings.TrimSuffix(i.plan.Dir, "/") + "/" + name
}

func execError(name string, err error) error {
	e := sandbox.Unexecutable(name, err)
	if e == nil {
		e = sandbox.Unexecutable(name, syscall.ENOENT)
	}
	if e.Code == sandbox.NotFound && !strings.Contains(name, "/") {
		e.Hint = strings.TrimPrefix(hint.For(name), "\nhint: ")
	}
	return e
}
