package sandbox

import (
	"context"
	"io"
	"io/fs"
	"net"
	"os"
	"time"
)

// Driver builds sandboxes of one kind. Implementations are safe for concurrent
// use. Users call [Create] and the methods of [Sandbox] rather than a Driver.
type Driver interface {
	// Name is the backend's name: "virtual", "bwrap", "docker", "kube".
	Name() string
	// Check reports what this host lets the driver enforce. It changes nothing.
	Check(ctx context.Context) (Report, error)
	// Create enforces spec or refuses: a rule that cannot be enforced is
	// Unsupported, never skipped. On error nothing is left behind.
	Create(ctx context.Context, spec Spec) (Instance, error)
	// Open returns one that an earlier process created, or NotFound.
	Open(ctx context.Context, id string) (Instance, error)
	// List returns the persistent ones, in the order of their IDs.
	List(ctx context.Context) ([]Info, error)
}

// Instance is one sandbox of a driver. It is safe for concurrent use.
type Instance interface {
	// ID names the instance within its driver.
	ID() string
	// Start runs cmd. When ctx ends the whole process tree is killed. A command
	// that cannot be found or executed is an error with NotFound or Denied and an
	// [*ExecError] in its chain; nothing has run then.
	Start(ctx context.Context, cmd Cmd, stdio Stdio) (Process, error)
	// Files accesses the files with the rights of a command inside.
	Files() Files
	// Status returns its state.
	Status(ctx context.Context) (Status, error)
	// Close destroys it with all its processes. It is idempotent.
	Close(ctx context.Context) error
}

// Process is a running command.
type Process interface {
	// Wait returns when the command and everything that writes to its stdio has
	// ended. It is called once.
	Wait() (Exit, error)
	// Signal sends sig to the command's process group.
	Signal(sig os.Signal) error
}

// Files accesses files inside a sandbox, subject to the same policy as commands.
// Names are absolute paths inside, or relative to the start directory. Errors
// satisfy errors.Is with the fs sentinels.
type Files interface {
	// Open streams a regular file out. The caller closes it; Close reports
	// whether all of it arrived.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// Create streams r into a file, replacing it in one step when r is complete.
	Create(ctx context.Context, name string, perm fs.FileMode, r io.Reader) error
	// Stat does not follow a final symbolic link.
	Stat(ctx context.Context, name string) (FileInfo, error)
	// List returns a directory's entries sorted by name.
	List(ctx context.Context, name string) ([]FileInfo, error)
	// Remove deletes name and everything below it; a missing name is NotFound.
	Remove(ctx context.Context, name string) error
	// Rename moves from to to.
	Rename(ctx context.Context, from, to string) error
}

// Limited is implemented by instances that know the limits of their policy. An
// instance without it has no wall-clock limit and [DefaultOutput] as output cap.
type Limited interface {
	Limits() (Limits, error)
}

// Detacher is implemented by instances that outlive the process that opened them.
type Detacher interface {
	// Detach ends the connection and what was started through it.
	Detach() error
}

// Dialer is implemented by instances whose ports can be reached from outside.
type Dialer interface {
	// Dial connects to port on the loopback inside: 127.0.0.1, or ::1 when that refuses. Unavailable: no process
	// listens on either. The connection has CloseWrite, and ends with the instance; ctx bounds only the connecting.
	Dial(ctx context.Context, port int) (net.Conn, error)
}

// Listener is implemented by instances inside which this process can listen, so that commands reach a service of this process
// without a network and without a socket of the host.
type Listener interface {
	// Listen listens inside on "127.0.0.1:PORT", "[::1]:PORT" or the Unix socket "unix:/PATH", which every user inside may
	// connect to, and returns when connections are taken. Exists: the address is in use. Unsupported: there is
	// no such loopback, or it is not the sandbox's alone. The listener ends with its Close or with the instance, and is
	// lost with the first process inside; ctx bounds only the call. Clients are hostile: any process inside can connect.
	Listen(ctx context.Context, address string) (net.Listener, error)
}

// Sweeper is implemented by drivers that store parts of a sandbox outside of its Spec's State.
type Sweeper interface {
	// Sweep removes what belongs to sandboxes of this user whose State is gone, or whose process was killed.
	Sweep(ctx context.Context) error
}

// Prober is implemented by drivers that only know after a trial which rules they enforce.
type Prober interface {
	// Probe is Check with the results of trial sandboxes, which it removes.
	Probe(ctx context.Context) (Report, error)
}

// Fingerprinter is implemented by drivers whose sandboxes are worth preparing ahead.
type Fingerprinter interface {
	// Fingerprint identifies what Create would make of spec now, on this host, in at most 32 letters and digits. Two specs
	// that differ only in Name, State, or variables that do not come inside have the same.
	Fingerprint(ctx context.Context, spec Spec) (string, error)
}

// As finds an optional interface in an instance, unwrapping as errors.As does.
func As[T any](i Instance) (T, bool) {
	for i != nil {
		if t, ok := i.(T); ok {
			return t, true
		}
		u, ok := i.(interface{ Unwrap() Instance })
		if !ok {
			break
		}
		i = u.Unwrap()
	}
	var zero T
	return zero, false
}

// Spec describes a sandbox to create. The zero value has no network, no host
// paths but the read-only system, an empty environment and a private /tmp.
type Spec struct {
	Name      string   // a label for messages; may be empty
	Workspace string   // the workspace, an absolute host directory; empty: none
	Dir       string   // start directory, absolute; empty: Workspace, or /tmp without one
	Home      string   // absolute home directory; empty: HOME of Env. Secrets are hidden in the homes of all accounts of the host
	Env       []string // the host's environment, "K=V", that the env rules filter; nil: empty
	Layers    []Layer  // policy layers, later wins
	Policy    Policy   // the last layer, always trusted
	// State is a directory, absolute and of this sandbox alone, in which the driver stores the files that outlive it: snapshots, and
	// a tree in memory. A later sandbox with the same State continues with these files. Empty: nothing outlives the sandbox.
	State string
	// Resident runs all commands in one isolated place with a supervisor, instead of one place each: a command
	// then costs a fork, and its files in /tmp and its background processes stay until Close. The policy protects the
	// paths that existed when the first command ran.
	Resident bool
	Stage    string // name of the copy-on-write view of Workspace that commands run on, made when missing; empty: they write to Workspace. A driver without stages refuses it as Unsupported

	Container // of sandboxes with a root file system of their own
}

// Container describes a sandbox whose root file system is not the host's. A driver whose sandboxes have the host's, or that
// cannot enforce a field, refuses the field as Unsupported.
type Container struct {
	Image   string   // what the root file system is made of; empty: the driver's own choice
	Target  string   // absolute path of Workspace inside; empty: its own path, or /workspace where it is a copy
	Volumes []Volume // storage that outlives the sandbox
	// Firewall are hosts and presets that a sandbox reaches over routes and a packet filter, which sees addresses, in the
	// place of the policy's proxy, which sees names; see package firewall. The policy's network is "none" then. nil: no
	// firewall and no routes. This process must be able to change the sandbox's network namespace.
	Firewall []string
}

// Volume is named storage of a backend, made when it is missing, that several sandboxes can share.
type Volume struct {
	Name     string            `json:"name"`               // of the backend's own
	Target   string            `json:"target"`             // absolute path inside
	ReadOnly bool              `json:"readOnly,omitempty"` //
	Labels   map[string]string `json:"labels,omitempty"`   // it gets when it is made
	// Project and Git are directories below Target, relative to it, or empty: a checkout of Workspace, and the git directory
	// that it shares with others. What the policy protects in Workspace and in its .git is protected there, too, as far as it
	// exists when the sandbox starts or is not created before; the hooks of Workspace run.
	Project string `json:"project,omitempty"`
	Git     string `json:"git,omitempty"`
}

// Layer is one Policy and where it came from.
type Layer struct {
	Name    string         // "defaults", "global", "project", "flags"
	File    string         // the file it was read from; empty for flags and defaults
	Trusted bool           // an untrusted layer may only tighten what the layers before it allow
	Policy  Policy         // its content
	Lines   map[string]int // key path such as "filesystem.ro[0]" → line in File, from 1; may be nil
}

// Cmd is a command to run.
type Cmd struct {
	Args []string // program and arguments; Args[0] is looked up in the sandbox's PATH
	Dir  string   // absolute working directory inside; empty: the Spec's
	Env  []string // "K=V" on top of the policy's environment
	// TTY gives it a terminal of its own of that size, on which what it writes to stderr is
	// output, too; nil: no terminal. Only resident sandboxes have terminals to give.
	TTY *Terminal
	// Wall limits the wall-clock time of this command, besides the limit of the policy; zero: only that one. [Sandbox.Start] holds it.
	Wall Duration
	// Leave ends Wait with the command itself: what it has left running continues, and what that writes from then on is
	// thrown away. Only resident sandboxes and those in memory support it. It does not go with TTY.
	Leave bool
}

// Terminal is a terminal's size in characters.
type Terminal struct{ Rows, Cols uint16 }

// Resizer is implemented by processes that were started with a TTY.
type Resizer interface {
	Resize(size Terminal) error
}

// Stdio is a command's standard streams. A nil Stdin is the null device, a nil
// Stdout or Stderr is thrown away. An *os.File is handed to the command as it
// is, so a terminal stays a terminal; with any other kind Wait waits for the copy.
type Stdio struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// Exit is the end of a command.
type Exit struct {
	Code   int    // exit status; 128+n when signal n killed it
	Signal int    // the signal that killed it, or 0; a backend that sees only statuses reads 128+n as signal n, as shells do
	Reason string // why agent-sandbox killed it ("memory limit"), or ""
}

// ExecError is the error of a command that could not be executed.
type ExecError struct {
	Name string // Args[0]
	Code int    // 127 not found, 126 not executable
	Err  error
}

func (e *ExecError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ExecError) Unwrap() error { return e.Err }

// FileInfo describes a file inside a sandbox.
type FileInfo struct {
	Name   string      `json:"name"`             // base name
	Size   int64       `json:"size"`             // bytes
	Mode   fs.FileMode `json:"mode"`             // type and permissions
	Time   time.Time   `json:"time"`             // modification time
	Target string      `json:"target,omitempty"` // of a symbolic link
}

// Info names a sandbox.
type Info struct {
	ID        string    `json:"id"`
	Name      string    `json:"name,omitempty"`
	Backend   string    `json:"backend"`
	Workspace string    `json:"workspace,omitempty"`
	Created   time.Time `json:"created"`
}

// Status is the state of a sandbox.
type Status struct {
	Info
	Running int  `json:"running"`          // commands that run now, or are frozen
	Frozen  bool `json:"frozen,omitempty"` // the commands are stopped until Thaw; see [Freezer]
}

// State is the degree to which a driver enforces a rule on this host.
type State string

// The states.
const (
	Enforced   State = "enforced"   // the kernel, engine or cluster enforces it
	Emulated   State = "emulated"   // enforced by code of agent-sandbox, with the limits that Detail names
	Impossible State = "impossible" // a Spec that asks for it is refused
)

// Finding is one line of a Report.
type Finding struct {
	Rule   string `json:"rule"`             // "user namespaces", "limits.memory"
	State  State  `json:"state"`            //
	Detail string `json:"detail,omitempty"` // what enforces it, or which layer forbids it
	Fix    string `json:"fix,omitempty"`    // one line that would change it
	Needed bool   `json:"needed,omitempty"` // without it the driver refuses to start anything
}

// Report lists the rules that a driver can enforce on this host.
type Report struct {
	Backend  string    `json:"backend"`
	Version  string    `json:"version,omitempty"` // of the tool or engine behind it
	Findings []Finding `json:"findings"`
}

// OK reports whether the driver can start a sandbox at all.
func (r Report) OK() bool {
	for _, f := range r.Findings {
		if f.Needed && f.State == Impossible {
			return false
		}
	}
	return true
}
