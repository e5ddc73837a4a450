package persist

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// fork creates and starts a sandbox that begins with the files of another. Its directory has a temporary name until it is
// complete.
func (d *Driver) fork(ctx context.Context, from Operated, of, name, snapshot string, env []string) (sandbox.Instance, error) {
	record, err := d.Store.Load(of)
	if err != nil {
		return nil, err
	}
	record.State = ""
	record.ID, record.Name, record.Created, record.Spec.Name = name, name, time.Now(), name
	if record.Spec.Stage != "" {
		record.Spec.Stage = name
	}
	err = d.Store.add(record, func(dir string) error {
		state := filepath.Join(dir, stateDir)
		if err := os.Mkdir(state, 0o700); err != nil {
			return err
		}
		return SaveState(ctx, from, state, snapshot)
	})
	if err != nil {
		return nil, err
	}
	i, err := d.begin(ctx, name, env)
	if err != nil {
		ctx = context.WithoutCancel(ctx)
		return nil, errors.Join(err, d.revert(ctx, record), d.destroy(ctx, name))
	}
	return i, nil
}

func (d *Driver) begin(ctx context.Context, name string, env []string) (sandbox.Instance, error) {
	if err := d.Start(ctx, name, env); err != nil {
		return nil, err
	}
	return d.Open(ctx, name)
}

// Reverter is implemented by drivers whose sandboxes, when they start, move files out of the State that SaveState
// wrote.
type Reverter interface {
	// Revert removes the files that a fork has moved out of its Spec's State before its start failed. It waits for the
	// end of processes that a killed keeper has left.
	Revert(ctx context.Context, spec sandbox.Spec) error
}

// revertTime bounds revert's wait for the end of processes that a killed keeper has left.
const revertTime = 10 * time.Second

// revert removes the files that a fork has moved out of its State before its start failed.
func (d *Driver) revert(ctx context.Context, record Record) error {
	r, ok := d.Inner.(Reverter)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, revertTime)
	defer cancel()
	if err := d.Store.Stop(ctx, record.ID); err != nil {
		return err
	}
	spec := record.Spec
	spec.State = d.Store.state(record)
	return r.Revert(ctx, spec)
}
