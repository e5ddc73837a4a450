package shell

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/trap"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Options describe a machine and its first shell. Zero fields: an empty file system with /tmp,
// root's rights, the directory "/", no commands but builtins, the default limits.
type Options struct {
	FS       *vfs.FS
	Cred     vfs.Cred
	Env      []string  // "NAME=value"
	Dir      string    // absolute
	Name     string    // $0; "": "bash"
	Commands []Command // they take the names of those before them, and of Programs
	Programs *Programs // that other machines may have, too; nil: none
	Limits   Limits
	Umask    fs.FileMode // 0: 022
	Now      func() time.Time
	Seed     uint64                           // of RANDOM and Proc.Rand; 0: another one each time
	Hostname string                           // HOSTNAME; "": "sandbox"
	Zone     func(name string) *time.Location // what a name in TZ means; nil: only UTC
	Hint     func(name string) string         // what to add to "command not found"; nil: nothing

	// Fault receives the value of a program's panic, which scripts cannot see. It may be called from
	// several goroutines at once, with the panic's stack still standing. nil: the panic is dropped.
	Fault func(command string, v any)
}

// Shell is a bash that keeps its variables, functions, options, directory and jobs from one Run to the
// next. One Run at a time; others wait.
type Shell struct {
	mu   sync.Mutex
	m    *machine
	sh   *interp
	stop context.CancelFunc

	frozen *frozen // the shell as it is, nil when a Run may have changed it
}

// Stdio holds the streams of a Run. Nil fields: no input, output that is lost. They are not used any more when Run has returned.
// A Stdin whose Read blocks holds a goroutine until that returns; what it then read, as all that was read and no command took, is
// lost unless it is an Unreader.
type Stdio struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// Unreader is an input that outlives a Run, such as a terminal.
type Unreader interface {
	// Unread takes back the last bytes that Read returned, to be read again. Safe for concurrent use with
	// Read; it keeps b.
	Unread(b []byte)
}

// Script is one script to run, with its streams and options.
type Script struct {
	Text string
	Name string   // of the file it comes from, as $0 and in messages; "": as with bash -c
	Args []string // $1 ...; nil: as they were
	Exit bool     // the shell ends with the script: its EXIT trap runs
	Wait bool     // wait also for jobs that still hold Stdout or Stderr, as a process that reads a pipe to its end does
	// Aside: the script changes none of $?, $_ and PIPESTATUS, as PROMPT_COMMAND and traps do not.
	Aside bool

	// Program is a name or path and arguments, which run in the shell's place instead of Text. What
	// cannot be found gets bash's message; call LookPath to word your own.
	Program []string
}

// Result is the outcome of a Run.
type Result struct {
	Status int   // 0 to 255
	Signal int   // the signal that ended the shell, 0 for none; Status is 128 and this
	Exited bool  // the script called exit, or an error ended it
	Limit  error // the limit that something in it met first, and that may have ended it: ErrFuel, ErrMemory, ...; nil for none
}

// New returns a shell. It takes microseconds and starts nothing.
func New(o Options) *Shell {
	if o.FS == nil {
		o.FS = vfs.New(vfs.Options{Now: o.Now})
		_ = o.FS.Mkdir(vfs.Cred{}, "/tmp", 0o777|fs.ModeSticky) // An empty tree takes it.
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64() //nolint:gosec // RANDOM of a shell is not a secret.
	}
	if o.Umask == 0 {
		o.Umask = 0o022
	}
	m := newMachine(o)
	s := newShellOn(m)
	s.sh = newInterp(m, o)
	return s
}

func newMachine(o Options) *machine {
	m := &machine{
		fs: o.FS, now: o.Now, limits: o.Limits.withDefaults(), fault: o.Fault,
		rand: rand.New(rand.NewPCG(o.Seed, 0)), //nolint:gosec // RANDOM of a shell is not a secret.
		lib:  newLibrary(), hintFor: o.Hint,
		hostname: o.Hostname, zone: o.Zone, born: o.Now(),
	}
	m.table = process.NewTable(m.limits.Processes, 99, m.ticks)
	if m.hostname == "" {
		m.hostname = "sandbox"
	}
	switch {
	case o.Programs == nil:
		m.programs.Store(newPrograms(shellPrograms()).with(o.Commands, m.lib.builtins))
	case len(o.Commands) == 0:
		m.programs.Store(o.Programs.table)
	default:
		m.programs.Store(o.Programs.table.with(o.Commands, m.lib.builtins))
	}
	m.fuel.Store(m.limits.Fuel)
	m.most.Store(m.limits.Bytes)
	return m
}

// hint returns the addition to "command not found".
func (m *machine) hint(name string) string {
	if m.hintFor == nil {
		return ""
	}
	return m.hintFor(name)
}

// FS returns the machine's file system.
func (s *Shell) FS() *vfs.FS { return s.m.fs }

// Dir returns the working directory.
func (s *Shell) Dir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sh.dir
}

// Environ returns the exported variables.
func (s *Shell) Environ() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sh.environ()
}

// Run runs a script in the shell, as bash -c does. An error is that of ctx; whatever the script
// does is a Result. When ctx ends all of its processes end.
func (s *Shell) Run(ctx context.Context, text string, io Stdio) (Result, error) {
	return s.RunScript(ctx, Script{Text: text}, io)
}

// RunScript runs a script in the shell; see Run.
func (s *Shell) RunScript(ctx context.Context, sc Script, io Stdio) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return Result{}, context.Cause(ctx)
	}
	run, cancel := context.WithCancelCause(s.m.life)
	unhook := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	defer unhook()
	s.m.begin(run, cancel)
	s.m.gate.Enter(run)
	defer s.m.gate.Leave()
	s.frozen = nil
	sh := s.sh
	if sc.Aside {
		state, pipes := sh.captureState(), slices.Clone(sh.pipeStatus)
		defer func() {
			sh.restoreState(state)
			sh.pipeStatus = pipes
		}()
	}
	sh.begin(run, sc, io)
	s.opened()
	defer s.m.shut()
	res := sh.runMain(sc)
	if sc.Exit || res.Exited {
		sh.fds.Release()
		sh.fds = fd.NewTable()
		sh.showFds()
	}
	s.m.gate.Block()
	sh.detach(run, sc.Wait)
	s.m.gate.Unblock(run)
	if ctx.Err() != nil {
		s.m.waitDying()
	}
	if s.m.table.IsIdle() {
		cancel(nil)
	}
	if met := s.m.met.Load(); met != nil {
		res.Limit = *met
	}
	if !errors.Is(context.Cause(run), ErrFuel) && ctx.Err() != nil {
		return res, context.Cause(ctx)
	}
	return res, nil
}

// SetStatus sets $? for the next script, as an interactive shell does when a key interrupts a line. status is 0 to 255.
func (s *Shell) SetStatus(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = nil
	s.sh.status = status & 0xff
}

// Close ends all processes of the machine and waits for them.
func (s *Shell) Close() {
	s.stop()
	s.m.wait.Wait()
}

// Fork returns a shell on a copy of the machine: its files, and this shell's variables and functions.
// It takes constant time. Jobs stay behind.
func (s *Shell) Fork() *Shell {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := newShellOn(s.m.forkOn(s.m.fs.Fork()))
	m := f.m
	f.sh = s.sh.fork(true)
	m.bytes.Store(int64(f.sh.memory.Taken()))
	s.m.bytes.Add(-int64(f.sh.memory.Taken()))
	f.sh.fds.Release()
	f.sh.settle(m)
	return f
}

// begin prepares the process for a script.
func (sh *interp) begin(ctx context.Context, sc Script, io Stdio) {
	sh.p.Restart(ctx)
	sh.ctx = sh.p.Ctx // A signal ends what waits, too.
	sh.ctl, sh.exiting, sh.signaled, sh.noErrExit, sh.loops, sh.depth, sh.levels = ctlNone, false, 0, 0, 0, 0, 0
	sh.charge(-int(sh.paidLevels) * levelStack)
	sh.paidLevels = 0
	_ = sh.setFd(0, sh.hostInput(io.Stdin))
	_ = sh.setFd(1, hostWriter(io.Stdout))
	if io.Stderr != nil && isSameWriter(io.Stderr, io.Stdout) {
		_ = sh.setFd(2, sh.fds.Get(1).Ref())
	} else {
		_ = sh.setFd(2, hostWriter(io.Stderr))
	}
	sh.hosts = append(sh.hosts[:0], sh.fds.Get(1).Host, sh.fds.Get(2).Host)
	if in := sh.fds.Get(0).Host; in != nil {
		sh.hosts = append(sh.hosts, in)
	}
	sh.script = sc.Name
	sh.opt |= option.Command
	if sc.Name != "" {
		sh.name = sc.Name
		sh.opt &^= option.Command
	}
	if sc.Name == "" && sc.Program == nil {
		sh.setCommandString(sc.Text)
	}
	if sc.Args != nil {
		sh.params = append([]string(nil), sc.Args...)
	}
}

// hostInput returns a description of the caller's input. Without one it is the null device, which programs such as rg distinguish
// from a pipe.
func (sh *interp) hostInput(r io.Reader) *fd.Description {
	if r != nil {
		return fd.NewHost(r, nil, "stdin")
	}
	null, err := sh.openFile("/dev/null", os.O_RDONLY)
	if err != nil { // A script has removed it.
		return fd.NewText("")
	}
	return null
}

func hostWriter(w io.Writer) *fd.Description {
	if w == nil {
		w = io.Discard
	}
	return fd.NewHost(nil, w, "stdout")
}

// isSameWriter reports whether both streams go to one place.
func isSameWriter(a, b io.Writer) (same bool) {
	defer func() { _ = recover() }() // Values that cannot be compared are not the same.
	return a == b
}

// runMain runs the script on the caller's goroutine.
func (sh *interp) runMain(sc Script) (res Result) {
	defer func() {
		if r := recover(); r != nil {
			sh.errorf("internal error: %v", r)
			res.Status, res.Exited = 134, true
		}
	}()
	what := "-c"
	if sc.Name != "" {
		what = ""
	}
	sh.unitBase = 0
	var st int
	if sc.Program != nil {
		sh.sole = true
		st = sh.external(sc.Program)
		sh.sole = false
	} else {
		st = sh.runText(sc.Text, 1, what)
	}
	if sh.ctl == ctlNone {
		sh.status = st
		sh.takeChildren()
	}
	if sh.ctl == ctlExit {
		res.Exited = true
	}
	if sh.ctl != ctlNone {
		st = sh.status
	}
	if (sc.Exit || res.Exited) && !sh.exiting && sh.traps.Has(trap.Exit) {
		sh.ctl = ctlNone
		st = sh.runExitTrap(st)
	}
	if sh.ctx.Err() != nil && !sh.exiting {
		sh.die(sh.ctx)
		st = sh.status
	}
	sh.ctl = ctlNone
	sh.status = st & 0xff
	sh.undoRedirs(0)
	res.Status, res.Signal = sh.status, sh.signaled
	if sh.exiting && res.Signal == 0 && sh.ctx.Err() != nil {
		res.Signal = int(process.KillSignal(context.Cause(sh.ctx)))
	}
	return res
}

// detach ends the use of the caller's streams, which other processes may hold until ctx ends if it is
// to wait for them.
func (sh *interp) detach(ctx context.Context, wait bool) {
	for fd := range 3 {
		_ = sh.setFd(fd, nil)
	}
	if wait {
		for _, h := range sh.hosts[:2] {
			select {
			case <-h.Done():
			case <-ctx.Done():
			}
		}
	}
	for _, h := range sh.hosts {
		h.Finish()
	}
}

// State is a machine at one moment: its files, and the directory, variables, functions, options and
// traps of its shell, without processes and open files. It never changes, and is safe for
// concurrent use.
type State struct {
	tree *vfs.Snapshot
	at   time.Time
	*frozen
}

// frozen is a shell that nothing runs in. All states of it that were saved without a Run between them
// share it.
type frozen struct {
	mu  sync.Mutex // a fork marks its parent
	sh  *interp
	dir string
}

// Save retains the machine as it is, in constant time. It waits for a Run to end.
func (s *Shell) Save() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.frozen == nil {
		s.frozen = &frozen{sh: s.sh.fork(true), dir: s.sh.dir}
		s.frozen.sh.fds.Release()
		s.frozen.sh.fds = nil
	}
	return &State{tree: s.m.fs.Snapshot(), at: s.m.now(), frozen: s.frozen}
}

// Tree returns the files.
func (st *State) Tree() *vfs.Snapshot { return st.tree }

// Time returns when it was saved, by the machine's clock.
func (st *State) Time() time.Time { return st.at }

// Dir returns the working directory.
func (st *State) Dir() string { return st.dir }

// Environ returns the exported variables.
func (st *State) Environ() []string {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.sh.environ()
}

// errForeignState means that two shells number their names differently.
var errForeignState = errors.New("the state is not of this shell, nor of one that it was forked from or to")

// Restore puts the machine back to a state of its own or of one of its family of forks, in constant time.
// It waits for a Run to end; jobs that go on see the restored files.
func (s *Shell) Restore(st *State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.sh.m.lib != s.m.lib {
		return errForeignState
	}
	s.m.fs.Restore(st.tree)
	s.become(st)
	return nil
}

// Reset is Restore of everything but the files.
func (s *Shell) Reset(st *State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.sh.m.lib != s.m.lib {
		return errForeignState
	}
	s.become(st)
	return nil
}

func (s *Shell) become(st *State) {
	s.frozen = st.frozen
	s.sh.fds.Release()
	now := st.fork()
	now.m, now.p, now.ctx, now.mainPID, now.ownProcess, now.jobs = s.m, s.sh.p, s.sh.ctx, s.sh.mainPID, true, s.sh.jobs
	s.sh = now
	now.showDir()
	now.showFds()
}

// Shell returns a new machine that begins as the state.
func (st *State) Shell() *Shell {
	s := newShellOn(st.sh.m.forkOn(st.tree.FS(st.sh.m.fs.Options())))
	s.sh = st.fork()
	s.sh.settle(s.m)
	return s
}

func (st *State) fork() *interp {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.sh.fds = fd.NewTable()
	sh := st.sh.fork(true)
	sh.fds = fd.NewTable()
	sh.traps.Adopt()
	sh.subshell = 0
	return sh
}

func newShellOn(m *machine) *Shell {
	s := &Shell{m: m}
	life, stop := context.WithCancel(m.gate.With(context.Background()))
	m.life, m.run, s.stop = life, life, stop
	return s
}

// LookPath returns where the program that a name or path means is, for the shell as it is now.
// ENOENT: there is none; EACCES: it may not be executed.
func (s *Shell) LookPath(name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, path, err := s.sh.findCommand(name)
	return path, err
}

// Signal sends a signal, by its number on Linux, to the process group of the first shell and so to
// the foreground processes of a Run. Between two Runs the signal waits for the next one.
func (s *Shell) Signal(sig syscall.Signal) {
	m := s.m
	m.mu.Lock()
	if !m.running {
		m.early = append(m.early, sig)
		m.mu.Unlock()
		return
	}
	group := m.first.PGID
	m.mu.Unlock()
	for _, p := range m.table.Group(group) {
		p.Send(int(sig))
	}
}

// opened lets signals through from now on, first those that came early.
func (s *Shell) opened() {
	m := s.m
	m.mu.Lock()
	early := m.early
	m.running, m.early = true, nil
	m.mu.Unlock()
	for _, sig := range early {
		s.Signal(sig)
	}
}

// Freeze stops all processes of the machine where they are until Thaw, also of later Runs. When it returns, none runs; one that waits
// for the network continues its wait. Deadlines of sleep and timeout move by the time until Thaw. Freeze is idempotent. On an error,
// that of ctx, none is stopped.
func (s *Shell) Freeze(ctx context.Context) error {
	err := s.m.gate.Shut(ctx, s.m.table.Alert)
	if err != nil {
		s.m.gate.Open()
	}
	return err
}

// Thaw continues the processes that Freeze has stopped.
func (s *Shell) Thaw() { s.m.gate.Open() }

// waitDying waits for processes that a signal ends, so that none is left after Run. They look often;
// one that is held up by its owner, such as by a write that blocks, is not waited for very long.
func (m *machine) waitDying() {
	late := time.NewTimer(time.Second)
	defer late.Stop()
	for {
		changes := m.table.Changes()
		if !m.table.IsDying(m.first) {
			return
		}
		select {
		case <-changes:
		case <-late.C:
			return
		}
	}
}

func (m *machine) shut() {
	m.mu.Lock()
	m.running = false
	m.mu.Unlock()
}

// Processes returns the processes of the machine by number, the first shell's among them. It may be
// called while a Run goes on.
func (s *Shell) Processes() []ProcessInfo { return s.m.processes() }

// Incomplete reports whether a script ends in the middle of a command, so that a prompt should ask the user for more lines: an
// open quote, a here-document without its end, a loop without done.
func Incomplete(text string) bool {
	asked := false
	p := syntax.NewParser(text, syntax.Options{ExtGlob: func() bool { return true }, More: func() (string, bool) {
		asked = true
		return "", false
	}})
	for {
		asked = false
		list, err := p.Next()
		switch {
		case err == nil && list == nil:
			return false
		case asked:
			return true
		case err != nil:
			return false // More lines would not make it valid.
		}
	}
}
