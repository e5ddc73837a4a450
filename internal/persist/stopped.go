package persist

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Reach is like Open. For a stopped sandbox it returns an instance that runs no commands but has the sandbox's
// snapshots and files. The sandbox cannot be started until the instance is detached.
func (d *Driver) Reach(ctx context.Context, name string) (sandbox.Instance, error) {
	i, err := d.Open(ctx, name)
	if sandbox.CodeOf(err) != sandbox.Closed {
		return i, err
	}
	held, terr := d.Store.takeStopped(ctx, name)
	if terr != nil {
		return nil, errors.Join(err, terr) // the sandbox is starting or stopping
	}
	s, err := d.stopped(ctx, name, held)
	if err != nil {
		held.release()
		return nil, err
	}
	return s, nil
}

func (d *Driver) stopped(ctx context.Context, name string, held *lock) (*stopped, error) {
	record, err := d.Store.Load(name)
	if err != nil {
		return nil, err
	}
	spec := record.Spec
	spec.Env, spec.Resident, spec.State = d.Env, true, d.Store.state(record)
	inner, err := d.Inner.Create(ctx, spec)
	if err != nil {
		return nil, err
	}
	s := &stopped{driver: d, name: name, inner: inner, record: record, held: held}
	s.Operated = s.operate
	return s, nil
}

// stopped is a sandbox without a keeper; this process has its lock.
type stopped struct {
	Operated

	driver *Driver
	name   string
	inner  sandbox.Instance
	record Record

	once sync.Once
	held *lock
	err  error
}

func (s *stopped) operate(ctx context.Context, op string, arg any, answer io.Writer) error {
	var data json.RawMessage
	if arg != nil {
		var err error
		if data, err = json.Marshal(arg); err != nil {
			return err
		}
	}
	return Perform(ctx, s.inner, op, data, answer)
}

func (s *stopped) ID() string { return s.name }

// Start fails: the sandbox is stopped.
func (s *stopped) Start(context.Context, sandbox.Cmd, sandbox.Stdio) (sandbox.Process, error) {
	return nil, isStopped(s.name)
}

// Freeze fails: the sandbox is stopped.
func (s *stopped) Freeze(context.Context) error { return isStopped(s.name) }

// Thaw fails: the sandbox is stopped.
func (s *stopped) Thaw(context.Context) error { return isStopped(s.name) }

func (s *stopped) Files() sandbox.Files { return files.New(s.Start) }

// Status returns the status from the record.
func (s *stopped) Status(context.Context) (sandbox.Status, error) {
	return sandbox.Status{Info: s.record.Info()}, nil
}

// Fork implements [sandbox.Forker].
func (s *stopped) Fork(ctx context.Context, name, snapshot string) (sandbox.Instance, error) {
	return s.driver.fork(ctx, s.Operated, s.name, name, snapshot, s.driver.Env)
}

// Detach releases the sandbox and does not change it.
func (s *stopped) Detach() error {
	s.once.Do(func() {
		s.err = s.inner.Close(context.Background())
		s.held.release()
	})
	return s.err
}

// Close destroys the sandbox.
func (s *stopped) Close(ctx context.Context) error {
	return errors.Join(s.Detach(), s.driver.destroy(ctx, s.name))
}
