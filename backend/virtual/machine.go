package virtual

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/internal/memory/zone"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Config describes a [Machine]. The zero value is useful.
type Config struct {
	MaxTotalSize int64 // bytes of all files; 0: 100 MiB, negative: no limit
	MaxFileSize  int64 // bytes of one file; 0: 10 MiB, negative: no limit
	MaxNodeCount int   // files, directories and links, the system's apart; 0: 10,000, negative: no limit

	CommandTimeout   time.Duration // of one Execute; 0: 30 s, negative: no limit
	WorkingDirectory string        // absolute, made when missing; "": "/"
	Environment      map[string]string

	MaxOutput int          // bytes of stdout, and of stderr, that a result keeps; 0: 1 MiB, negative: no limit
	Shell     shell.Limits // of what scripts take beside time and files
	Fresh     bool         // each Execute begins with the shell as it was at first; files stay
	History   int          // results that GetHistory knows; 0: 1000, negative: none
	Observer  Observer     // told of what happens; nil: nobody is
	Now       func() time.Time
	Seed      uint64 // of $RANDOM; 0: another one each time

	// Extensions are programs beside those of package coreutils; see shell.Command and its Replace.
	Extensions []shell.Command
}

// Observer is told what happens in a [Machine], by the goroutine that executes. It must not call the machine.
type Observer interface {
	// Executed is called after each Execute, with what it returned.
	Executed(r Result)
	// Changed is called before Executed with what the command did to files, if anything.
	Changed(command string, changes []Change)
	// Denied is called when the network's rules refused something.
	Denied(d sandbox.Denial)
}

// Result is what one Execute did.
type Result struct {
	Stdout   string        `json:"stdout"` // head and tail when it was longer than Config.MaxOutput, and between them a line that says so
	Stderr   string        `json:"stderr"` // the same
	ExitCode int           `json:"exit_code"`
	Success  bool          `json:"success"` // ExitCode is 0
	Command  string        `json:"command"` // as it was given
	Duration time.Duration `json:"duration"`

	Cut      bool     `json:"cut,omitempty"`       // some output is not in Stdout or Stderr
	TimedOut bool     `json:"timed_out,omitempty"` // Config.CommandTimeout has passed; ExitCode is 124
	Limit    string   `json:"limit,omitempty"`     // which limit ended it
	Changes  []Change `json:"changes,omitempty"`   // of files, by path
}

// Stats are figures of a [Machine].
type Stats struct {
	TotalSize int64 `json:"total_size"` // bytes of all files
	NodeCount int   `json:"node_count"` // files, directories and links; the system's apart

	MaxTotalSize int64 `json:"max_total_size"` // -1: no limit
	MaxFileSize  int64 `json:"max_file_size"`
	MaxNodeCount int   `json:"max_node_count"`

	CommandCount     int           `json:"command_count"` // Executes so far
	CommandTime      time.Duration `json:"command_time"`  // that they took
	WorkingDirectory string        `json:"working_directory"`
	Processes        int           `json:"processes"` // background jobs that run now
	Created          time.Time     `json:"created"`
}

// Machine is a computer in memory: a file system, and a shell that remembers. It is safe for concurrent
// use; one Execute at a time, others wait. Close it to end what runs in the background.
type Machine struct {
	config  Config
	system  *system
	sh      *shell.Shell
	begin   *shell.State // for Config.Fresh
	created time.Time

	run sync.Mutex // held by whoever executes, saves or restores

	mu     sync.Mutex // guards what follows
	closed bool
	count  int
	spent  time.Duration

	history      []Result // from oldest on
	oldest       int
	historyBytes int
}

// NewMachine makes a machine. It takes microseconds and starts nothing.
func NewMachine(c Config) (*Machine, error) {
	s, err := systemFor(root)
	if err != nil {
		return nil, err
	}
	if c.WorkingDirectory == "" {
		c.WorkingDirectory = "/"
	}
	if !strings.HasPrefix(c.WorkingDirectory, "/") {
		return nil, sandbox.Errorf(sandbox.Invalid, "working directory %q: expected an absolute path", c.WorkingDirectory)
	}
	tree := s.on(s.tree, vfs.Options{
		Limits: vfs.Limits{Bytes: c.MaxTotalSize, FileBytes: c.MaxFileSize, Nodes: c.MaxNodeCount}, Now: c.Now,
	})
	if err := tree.MkdirAll(vfs.Cred{}, c.WorkingDirectory, 0o755); err != nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "working directory: %w", err)
	}
	env, err := machineEnv(c)
	if err != nil {
		return nil, err
	}
	sh := shell.New(shell.Options{
		FS: tree, Env: env, Dir: c.WorkingDirectory, Programs: programs(), Limits: c.Shell, Now: c.Now, Seed: c.Seed,
		Hostname: hostname, Zone: zone.Load, Hint: coreutils.Hint,
	})
	if len(c.Extensions) > 0 {
		if err := sh.Register(c.Extensions...); err != nil {
			sh.Close()
			return nil, sandbox.Errorf(sandbox.Invalid, "extensions: %w", err)
		}
	}
	return newMachine(c, s, sh), nil
}

func newMachine(c Config, s *system, sh *shell.Shell) *Machine {
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	m := &Machine{config: c, system: s, sh: sh, created: now()}
	if c.Fresh {
		m.begin = sh.Save()
	}
	return m
}

func machineEnv(c Config) ([]string, error) {
	env := []string{"HOME=" + root.home, "USER=" + root.name}
	var given []string
	for name, value := range c.Environment {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.IndexByte(value, 0) >= 0 {
			return nil, sandbox.Errorf(sandbox.Invalid, "environment: %q cannot be a variable", name+"="+value)
		}
		given = append(given, name+"="+value)
	}
	slices.Sort(given)
	return searchPath(environment(env, given)), nil
}

// Register adds extensions for what is executed from now on, all or none; see shell.Shell.Register.
func (m *Machine) Register(commands ...shell.Command) error {
	if err := m.sh.Register(commands...); err != nil {
		return sandbox.Errorf(sandbox.Invalid, "extensions: %w", err)
	}
	return nil
}

// FS returns the file system, for reading and writing from outside.
func (m *Machine) FS() *vfs.FS { return m.sh.FS() }

// Fork returns a machine that begins as this one and goes its own way, in constant time. Background
// jobs and the history stay behind.
func (m *Machine) Fork() (*Machine, error) {
	m.run.Lock()
	defer m.run.Unlock()
	if m.isClosed() {
		return nil, errClosed()
	}
	f := newMachine(m.config, m.system, m.sh.Fork())
	f.begin = m.begin
	return f, nil
}

// Close ends what runs in the background. A second call does nothing.
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

func errClosed() error { return sandbox.Errorf(sandbox.Closed, "the machine is closed") }

// GetStats returns figures of the machine.
func (m *Machine) GetStats() Stats {
	usage := m.sh.FS().Usage()
	s := Stats{
		TotalSize: usage.Bytes - m.system.usage.Bytes, NodeCount: usage.Nodes - m.system.usage.Nodes,
		MaxTotalSize: usage.Limits.Bytes, MaxFileSize: usage.Limits.FileBytes, MaxNodeCount: usage.Limits.Nodes,
		WorkingDirectory: m.sh.Dir(), Processes: len(m.sh.Processes()) - 1, Created: m.created,
	}
	if s.MaxTotalSize > 0 {
		s.MaxTotalSize -= m.system.usage.Bytes
	}
	if s.MaxNodeCount > 0 {
		s.MaxNodeCount -= m.system.usage.Nodes
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.CommandCount, s.CommandTime = m.count, m.spent
	return s
}

// GetHistory returns the results of the last Executes, oldest first. The slice is the caller's.
func (m *Machine) GetHistory() []Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.history[m.oldest:])
}

// maxHistoryBytes bounds what the history holds of outputs; the oldest results go first.
const maxHistoryBytes = 16 << 20

func (m *Machine) remember(r Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count++
	m.spent += r.Duration
	keep := m.config.History
	if keep == 0 {
		keep = 1000
	}
	if keep < 0 {
		return
	}
	m.history = append(m.history, r)
	m.historyBytes += r.bytes()
	for len(m.history)-m.oldest > keep || m.historyBytes > maxHistoryBytes && len(m.history)-m.oldest > 1 {
		m.historyBytes -= m.history[m.oldest].bytes()
		m.history[m.oldest] = Result{}
		m.oldest++
	}
	if m.oldest > keep { // The room of those that are gone is used again, now and then.
		m.history = slices.Delete(m.history, 0, m.oldest)
		m.oldest = 0
	}
}

func (r *Result) bytes() int { return len(r.Stdout) + len(r.Stderr) + len(r.Command) }

// Execute runs a script in the shell, with empty input, and returns what it did. An error means that
// the machine is closed or that ctx ended, whose error it wraps; whatever the script does is in the
// Result, which is there too when ctx ended.
func (m *Machine) Execute(ctx context.Context, command string) (*Result, error) {
	return m.ExecuteStream(ctx, command, shell.Stdio{})
}

// ExecuteStream is Execute with streams: what the script writes goes to them as it comes, beside what
// the Result keeps of it. Nil streams are as in Execute.
func (m *Machine) ExecuteStream(ctx context.Context, command string, stdio shell.Stdio) (*Result, error) {
	m.run.Lock()
	defer m.run.Unlock()
	if m.isClosed() {
		return nil, errClosed()
	}
	if m.config.Fresh {
		if err := m.refresh(); err != nil {
			return nil, err
		}
	}
	limit := m.config.MaxOutput
	if limit == 0 {
		limit = 1 << 20
	}
	out, errs := &clip{limit: limit, next: stdio.Stdout}, &clip{limit: limit, next: stdio.Stderr}
	before, begin := m.sh.FS().Snapshot(), time.Now()
	res, err := m.execute(ctx, command, shell.Stdio{Stdin: stdio.Stdin, Stdout: out, Stderr: errs})
	r := Result{
		Stdout: out.text(), Stderr: errs.text(), ExitCode: res.Status, Command: command, Duration: time.Since(begin), Cut: out.cut() || errs.cut(),
		Changes: newChanges(vfs.Diff(before, m.sh.FS().Snapshot())),
	}
	switch {
	case errors.Is(err, errTimeout):
		r.TimedOut, r.ExitCode, err = true, sandbox.ExitTimeout, nil
	case err != nil:
		r.ExitCode = 137
		err = sandbox.Errorf(sandbox.CodeOf(err), "execute: %w", err)
	}
	if res.Limit != nil {
		r.Limit = res.Limit.Error()
	}
	r.Success = r.ExitCode == 0
	m.remember(r)
	if o := m.config.Observer; o != nil {
		if len(r.Changes) > 0 {
			o.Changed(command, r.Changes)
		}
		o.Executed(r)
	}
	return &r, err
}

// errTimeout is the cause of a context that Config.CommandTimeout has ended.
var errTimeout = errors.New("the command's time is over")

func (m *Machine) execute(ctx context.Context, command string, stdio shell.Stdio) (shell.Result, error) {
	limit := m.config.CommandTimeout
	if limit == 0 {
		limit = 30 * time.Second
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errTimeout)
		defer cancel()
	}
	return m.sh.RunScript(ctx, shell.Script{Text: command}, stdio)
}

// refresh puts the shell back to its beginning and leaves the files.
func (m *Machine) refresh() error {
	if err := m.sh.Reset(m.begin); err != nil {
		return fmt.Errorf("begin afresh: %w", err)
	}
	return nil
}
