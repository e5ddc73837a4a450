package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/system"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Errors that callers of a [Machine] compare with errors.Is.
var (
	// ErrClosed says that the machine was closed.
	ErrClosed = errors.New("the machine is closed")
	// ErrInvalid says that an option, a command or a snapshot cannot be used by the machine; the text says why.
	ErrInvalid = errors.New("invalid")
)

// ExitTimeout is the Code of a Result whose script ran into Options.Timeout, as that of timeout(1) is.
const ExitTimeout = 124

// exitCanceled is the Code when the caller's context ended: 128 and SIGKILL.
const exitCanceled = 137

// Options describes a [Machine]. The zero value is useful.
type Options struct {
	Files   vfs.Limits    // of bytes and nodes beside the system's own; see package vfs for zero and negative values
	Shell   shell.Limits  // of work, memory and processes of scripts
	Timeout time.Duration // of one Run; 0: 30 s, negative: no limit
	Output  int           // bytes of stdout, and of stderr, that a Result holds; 0: 1 MiB, negative: no limit
	History int           // results that History returns at most; 0: 1000, negative: none

	Dir   string // absolute working directory, made when missing; "": "/"
	Env   map[string]string
	Fresh bool // each Run begins with the shell as it was at first; files stay

	Observer Observer // nil: none
	Now      func() time.Time
	Seed     uint64 // of $RANDOM; 0: another one each time

	// Storage holds the state of the machine between processes: New begins with what is stored, and each Run stores what it
	// left before it returns. nil: none.
	Storage Storage

	// Commands are programs beside those of every machine; see shell.Command and its Replace.
	Commands []shell.Command
}

// Observer receives the events of a [Machine]. The goroutine that runs a script calls it. It must not call the machine.
type Observer interface {
	// Ran is called after each Run, with the results of Run.
	Ran(r Result)
	// Changed is called before Ran when the script changed files.
	Changed(script string, changes []Change)
}

// Result is the outcome of one Run.
type Result struct {
	Stdout   string        `json:"stdout"` // longer than Options.Output: head and tail, and between them a line that says so
	Stderr   string        `json:"stderr"` // the same
	Code     int           `json:"exit_code"`
	Success  bool          `json:"success"` // Code is 0
	Script   string        `json:"command"` // as it was given
	Duration time.Duration `json:"duration"`

	Cut      bool     `json:"cut,omitempty"`       // some output is not in Stdout or Stderr
	TimedOut bool     `json:"timed_out,omitempty"` // Options.Timeout has passed; Code is ExitTimeout
	Limit    string   `json:"limit,omitempty"`     // the limit that ended it; "": none
	Changes  []Change `json:"changes,omitempty"`   // of files, by path
}

// Status is the state of a [Machine].
type Status struct {
	Bytes int64 `json:"total_size"` // of all files
	Nodes int   `json:"node_count"` // files, directories and links; the system's apart

	MaxBytes     int64 `json:"max_total_size"` // -1: no limit
	MaxFileBytes int64 `json:"max_file_size"`
	MaxNodes     int   `json:"max_node_count"`

	Runs    int           `json:"command_count"` // so far
	RunTime time.Duration `json:"command_time"`  // of all Runs
	Dir     string        `json:"working_directory"`
	Running int           `json:"processes"` // background jobs that run now
	Created time.Time     `json:"created"`
}

// Machine is a file system, and a shell that remembers. It is safe for concurrent use; one Run at a time,
// others wait. The caller closes it, which ends background jobs.
type Machine struct {
	options Options
	system  *system.System
	sh      *shell.Shell
	begin   *shell.State // for Options.Fresh
	created time.Time

	run sync.Mutex // held while a script runs, and to save or restore

	mu     sync.Mutex // guards what follows
	closed bool
	count  int
	spent  time.Duration

	history      []Result // from oldest on
	oldest       int
	historyBytes int
}

// New makes a machine in microseconds. It starts no goroutine. The error is ErrInvalid, or that of Options.Storage.
func New(o Options) (*Machine, error) {
	s, err := system.For(system.Root)
	if err != nil {
		return nil, err
	}
	if o.Dir == "" {
		o.Dir = "/"
	}
	if !strings.HasPrefix(o.Dir, "/") {
		return nil, fmt.Errorf("%w working directory %q; expected an absolute path", ErrInvalid, o.Dir)
	}
	tree := s.NewFS(s.Tree, vfs.Options{Limits: o.Files, Now: o.Now})
	if err := tree.MkdirAll(vfs.Cred{}, o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("%w working directory: %w", ErrInvalid, err)
	}
	env, err := environment(o.Env)
	if err != nil {
		return nil, err
	}
	sh := system.NewShell(shell.Options{FS: tree, Env: env, Dir: o.Dir, Limits: o.Shell, Now: o.Now, Seed: o.Seed})
	if len(o.Commands) > 0 {
		if err := sh.Register(o.Commands...); err != nil {
			sh.Close()
			return nil, fmt.Errorf("%w command: %w", ErrInvalid, err)
		}
	}
	m := newMachine(o, s, sh)
	if o.Storage == nil {
		return m, nil
	}
	if err := m.loadStored(); err != nil {
		m.Close()
		return nil, fmt.Errorf("load the stored machine: %w", err)
	}
	return m, nil
}

func newMachine(o Options, s *system.System, sh *shell.Shell) *Machine {
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	m := &Machine{options: o, system: s, sh: sh, created: now()}
	if o.Fresh {
		m.begin = sh.Save()
	}
	return m
}

// environment returns the environment of a machine's shell, with the variables of given over the defaults.
func environment(given map[string]string) ([]string, error) {
	env := []string{"HOME=" + system.Root.Home, "USER=" + system.Root.Name}
	var more []string
	for name, value := range given {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.IndexByte(value, 0) >= 0 {
			return nil, fmt.Errorf("%w variable %q; expected a name without = and no NUL byte", ErrInvalid, name+"="+value)
		}
		more = append(more, name+"="+value)
	}
	slices.Sort(more)
	return system.SearchPath(system.Environment(env, more)), nil
}

// Register adds programs for the scripts that run from now on, all or none; see shell.Shell.Register. The error is
// ErrInvalid.
func (m *Machine) Register(commands ...shell.Command) error {
	if err := m.sh.Register(commands...); err != nil {
		return fmt.Errorf("%w command: %w", ErrInvalid, err)
	}
	return nil
}

// Commands returns what scripts can call, sorted by name: the builtins of the shell, which have only a name, and programs.
func (m *Machine) Commands() []shell.Command {
	all := m.sh.Commands()
	for _, name := range m.sh.Builtins() {
		if !slices.ContainsFunc(all, func(c shell.Command) bool { return c.Name == name || slices.Contains(c.Aliases, name) }) {
			all = append(all, shell.Command{Name: name})
		}
	}
	slices.SortFunc(all, func(a, b shell.Command) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// FS returns the file system, which the caller may read and write at any time: it fills a machine and takes results out without a
// shell's quoting. The limits hold there too, but the history does not list what is done so. It is for the host: scripts and
// extensions have only their commands.
func (m *Machine) FS() *vfs.FS { return m.sh.FS() }

// Fork returns a machine that begins with the state of this one, in constant time; neither sees later changes of
// the other. Background jobs, the history and the storage are not copied. The caller closes it. The error is ErrClosed.
func (m *Machine) Fork() (*Machine, error) {
	m.run.Lock()
	defer m.run.Unlock()
	if m.isClosed() {
		return nil, ErrClosed
	}
	f := newMachine(m.options, m.system, m.sh.Fork())
	f.begin, f.options.Storage = m.begin, nil
	return f, nil
}

// Close ends background jobs and waits for them. A second call does nothing.
func (m *Machine) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.sh.Close()
}

func (m *Machine) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

// Status returns the state of the machine.
func (m *Machine) Status() Status {
	usage := m.sh.FS().Usage()
	s := Status{
		Bytes: usage.Bytes - m.system.Usage.Bytes, Nodes: usage.Nodes - m.system.Usage.Nodes,
		MaxBytes: usage.Limits.Bytes, MaxFileBytes: usage.Limits.FileBytes, MaxNodes: usage.Limits.Nodes,
		Dir: m.sh.Dir(), Running: len(m.sh.Processes()) - 1, Created: m.created,
	}
	if s.MaxBytes > 0 {
		s.MaxBytes -= m.system.Usage.Bytes
	}
	if s.MaxNodes > 0 {
		s.MaxNodes -= m.system.Usage.Nodes
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.Runs, s.RunTime = m.count, m.spent
	return s
}

// History returns the results of the last Runs, oldest first. The slice is the caller's.
func (m *Machine) History() []Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.history[m.oldest:])
}

// maxHistoryBytes bounds scripts and outputs in the history; the oldest results are removed first.
const maxHistoryBytes = 16 << 20

func (m *Machine) remember(r Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count++
	m.spent += r.Duration
	most := m.options.History
	if most == 0 {
		most = 1000
	}
	if most < 0 {
		return
	}
	m.history = append(m.history, r)
	m.historyBytes += r.bytes()
	for len(m.history)-m.oldest > most || m.historyBytes > maxHistoryBytes && len(m.history)-m.oldest > 1 {
		m.historyBytes -= m.history[m.oldest].bytes()
		m.history[m.oldest] = Result{}
		m.oldest++
	}
	if m.oldest > most { // Reuse the room of removed results now and then.
		m.history = slices.Delete(m.history, 0, m.oldest)
		m.oldest = 0
	}
}

func (r *Result) bytes() int { return len(r.Stdout) + len(r.Stderr) + len(r.Script) }

// Run runs a script in the shell, with empty input. The Result describes the outcome, failures included. The
// error is ErrClosed, or wraps that of ctx when ctx ended, or is that of Options.Storage; but for ErrClosed there is a
// Result too.
func (m *Machine) Run(ctx context.Context, script string) (*Result, error) {
	return m.RunStdio(ctx, script, shell.Stdio{})
}

// RunStdio is Run over the caller's streams, which get the output as the script writes it; the Result holds it too.
// A nil stream is empty input, or output that only the Result holds.
func (m *Machine) RunStdio(ctx context.Context, script string, stdio shell.Stdio) (*Result, error) {
	m.run.Lock()
	defer m.run.Unlock()
	if m.isClosed() {
		return nil, ErrClosed
	}
	if m.options.Fresh {
		if err := m.resetShell(); err != nil {
			return nil, err
		}
	}
	limit := m.options.Output
	if limit == 0 {
		limit = 1 << 20
	}
	out, errs := &clip{limit: limit, next: stdio.Stdout}, &clip{limit: limit, next: stdio.Stderr}
	before, begin := m.sh.FS().Snapshot(), time.Now()
	res, err := m.runScript(ctx, script, shell.Stdio{Stdin: stdio.Stdin, Stdout: out, Stderr: errs})
	r := Result{
		Stdout: out.text(), Stderr: errs.text(), Code: res.Status, Script: script, Duration: time.Since(begin), Cut: out.isCut() || errs.isCut(),
		Changes: NewChanges(vfs.Diff(before, m.sh.FS().Snapshot())),
	}
	switch {
	case errors.Is(err, errTimeout):
		r.TimedOut, r.Code, err = true, ExitTimeout, nil
	case err != nil:
		r.Code = exitCanceled
		err = fmt.Errorf("run: %w", err)
	}
	if res.Limit != nil {
		r.Limit = res.Limit.Error()
	}
	r.Success = r.Code == 0
	m.remember(r)
	if o := m.options.Observer; o != nil {
		if len(r.Changes) > 0 {
			o.Changed(script, r.Changes)
		}
		o.Ran(r)
	}
	return &r, errors.Join(err, m.store())
}

// errTimeout is the cause of a context that Options.Timeout has ended.
var errTimeout = errors.New("timeout of the script")

func (m *Machine) runScript(ctx context.Context, script string, stdio shell.Stdio) (shell.Result, error) {
	limit := m.options.Timeout
	if limit == 0 {
		limit = 30 * time.Second
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errTimeout)
		defer cancel()
	}
	return m.sh.RunScript(ctx, shell.Script{Text: script}, stdio)
}

// resetShell puts the shell back to its first state and leaves the files.
func (m *Machine) resetShell() error {
	if err := m.sh.Reset(m.begin); err != nil {
		return fmt.Errorf("reset the shell: %w", err)
	}
	return nil
}
