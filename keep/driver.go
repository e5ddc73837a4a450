package keep

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/guest"
	"github.com/seed434b0696/agent-sandbox/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Driver makes the sandboxes of another driver live on. It is safe for concurrent use, also by several processes.
type Driver struct {
	Inner  sandbox.Driver
	Store  Store
	Keeper []string // the command line that calls [Store.Keep]; the name is added to it
	Idle   time.Duration
	TTL    time.Duration

	keepers sync.Map // ID → channel, closed when the keeper that this process started was waited for
}

// Name is that of the driver within.
func (d *Driver) Name() string { return d.Inner.Name() }

// Check is that of the driver within.
func (d *Driver) Check(ctx context.Context) (sandbox.Report, error) { return d.Inner.Check(ctx) }

// Create makes a sandbox and starts its keeper with spec.Env as its own environment. It lives until Close. Its ID is
// spec.Name where that can be one (see [CheckName]) and must be free then; any other name stays a label.
func (d *Driver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Instance, error) {
	id := spec.Name
	if CheckName(id) != nil {
		var err error
		if id, err = NewID(); err != nil {
			return nil, err
		}
	}
	err := d.Store.Add(Record{
		ID: id, Name: spec.Name, Backend: d.Name(), Created: time.Now(), Spec: spec,
		Idle: sandbox.Duration(d.Idle), TTL: sandbox.Duration(d.TTL),
	})
	if err != nil {
		return nil, err
	}
	if err := d.Start(ctx, id, spec.Env); err != nil {
		return nil, errors.Join(err, d.destroy(context.WithoutCancel(ctx), id))
	}
	i, err := d.Open(ctx, id)
	if err != nil {
		return nil, errors.Join(err, d.destroy(context.WithoutCancel(ctx), id))
	}
	return i, nil
}

// destroy is Destroy and returns when a keeper that this process started is gone altogether.
func (d *Driver) destroy(ctx context.Context, id string) error {
	err := d.Store.Destroy(ctx, id)
	if gone, ok := d.keepers.LoadAndDelete(id); ok && err == nil {
		select {
		case <-gone.(chan struct{}): //nolint:forcetypeassert // only Start stores
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// NewID makes an ID that nobody has.
func NewID() (string, error) {
	var id [4]byte
	_, err := rand.Read(id[:])
	return "box-" + hex.EncodeToString(id[:]), err
}

// Start starts a sandbox that is stopped, with a keeper whose environment is env. Exists: it runs already.
func (d *Driver) Start(ctx context.Context, name string, env []string) error {
	if _, err := d.Store.Load(name); err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	log, err := os.OpenFile(filepath.Join(d.Store.dir(name), logFile), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return errors.Join(err, w.Close())
	}
	// It has to outlive this process and whatever ends that: not even a context ends it.
	cmd := exec.Command(d.Keeper[0], append(append([]string{}, d.Keeper[1:]...), name)...) //nolint:noctx // see above
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.ExtraFiles = "/", append([]string{}, env...), log, []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = errors.Join(cmd.Start(), w.Close(), log.Close())
	if err != nil {
		return err
	}
	gone := make(chan struct{})
	d.keepers.Store(name, gone)
	go func() {
		_ = cmd.Wait() // it says itself how it went
		close(gone)
	}()
	stop := context.AfterFunc(ctx, func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = r.Close()
	})
	defer stop()
	said, err := io.ReadAll(io.LimitReader(r, maxSaid))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(err, saidIs(said))
}

const maxSaid = 64 << 10

// readyWord is what a keeper says on descriptor 3 when the sandbox runs; anything else is why it does not.
const readyWord = "ready"

// Ready tells the process that started this keeper how it went; nil: the sandbox runs.
func Ready(err error) {
	f := os.NewFile(3, "starter")
	defer f.Close()
	if err == nil {
		_, _ = io.WriteString(f, readyWord) // who started us may be gone
		return
	}
	data, _ := json.Marshal(saidError{sandbox.CodeOf(err), err.Error(), sandbox.HintOf(err)}) // strings always encode
	_, _ = f.Write(data)
}

type saidError struct {
	Code sandbox.Code `json:"code"`
	Text string       `json:"error"`
	Hint string       `json:"hint"`
}

func saidIs(said []byte) error {
	if string(said) == readyWord {
		return nil
	}
	var e saidError
	if json.Unmarshal(said, &e) != nil || e.Code == "" {
		return sandbox.Errorf(sandbox.Internal, "the sandbox's keeper ended: %.200q", strings.TrimSpace(string(said)))
	}
	return &sandbox.Error{Code: e.Code, Hint: e.Hint, Err: errors.New(e.Text)}
}

// Open connects to a sandbox that runs. Closed: it is stopped.
func (d *Driver) Open(ctx context.Context, name string) (sandbox.Instance, error) {
	conn, err := d.Store.dial(ctx, name)
	if err != nil {
		return nil, err
	}
	c, err := session.Connect(ctx, conn)
	if err != nil {
		return nil, err
	}
	i := &instance{driver: d, name: name, conn: c}
	if i.first, err = i.ask(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return i, nil
}

// List tells of all of this backend, running or stopped.
func (d *Driver) List(context.Context) ([]sandbox.Info, error) {
	records, err := d.Store.List()
	var out []sandbox.Info
	for _, r := range records {
		if r.Backend == d.Name() {
			out = append(out, r.Info())
		}
	}
	return out, err
}

// Info is what is known of a sandbox without asking its keeper.
func (r Record) Info() sandbox.Info {
	return sandbox.Info{ID: r.ID, Name: r.Name, Backend: r.Backend, Workspace: r.Spec.Workspace, Created: r.Created}
}

// instance is a sandbox that its keeper holds, seen from another process.
type instance struct {
	driver *Driver
	name   string
	conn   *session.Connection
	first  status
}

func (i *instance) ID() string { return i.name }

// Limits are those of its policy.
func (i *instance) Limits() (sandbox.Limits, error) { return i.first.Limits, nil }

func (i *instance) Start(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	return i.conn.Start(ctx, session.Command{Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir, TTY: cmd.TTY}, stdio)
}

func (i *instance) Files() sandbox.Files { return guest.NewFiles(i.Start) }

func (i *instance) ask(ctx context.Context) (status, error) {
	var st status
	data, err := i.conn.Operate(ctx, opStatus)
	if err == nil {
		err = json.Unmarshal(data, &st)
	}
	return st, err
}

func (i *instance) Status(ctx context.Context) (sandbox.Status, error) {
	st, err := i.ask(ctx)
	return st.Status, err
}

// Detach ends the connection and leaves the sandbox running.
func (i *instance) Detach() error { return i.conn.Close() }

// Close destroys the sandbox.
func (i *instance) Close(ctx context.Context) error {
	err := i.conn.Close()
	derr := i.driver.destroy(ctx, i.name)
	if sandbox.CodeOf(derr) == sandbox.NotFound {
		derr = nil
	}
	return errors.Join(err, derr)
}

// Stop ends what runs in a sandbox and its keeper; its record stays. One that is stopped is no error.
func (s Store) Stop(ctx context.Context, name string) error {
	l, err := s.halt(ctx, name)
	l.release()
	return err
}

// Destroy stops a sandbox and removes all that is kept of it. Its workspace stays as it is.
func (s Store) Destroy(ctx context.Context, name string) error {
	l, err := s.halt(ctx, name)
	if err != nil {
		return err
	}
	defer l.release()
	return s.remove(name)
}

// halt stops a sandbox and returns with its lock.
func (s Store) halt(ctx context.Context, name string) (*lock, error) {
	conn, err := s.dial(ctx, name)
	switch sandbox.CodeOf(err) {
	case "":
		c, err := session.Connect(ctx, conn)
		if err == nil {
			_, err = c.Operate(ctx, opStop)
			_ = c.Close()
		}
		if err != nil && sandbox.CodeOf(err) != sandbox.Closed && sandbox.CodeOf(err) != sandbox.Unavailable {
			return nil, err
		}
	case sandbox.Closed:
	default:
		return nil, err
	}
	return s.wait(ctx, name)
}
