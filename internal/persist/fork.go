package persist

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// forkAttempts limits how often a fork is tried that lost a port of the host to another sandbox.
const forkAttempts = 5

// fork creates and starts a sandbox that begins with the files of another.
func (d *Driver) fork(ctx context.Context, from Operated, of, name, snapshot string, env []string) (sandbox.Instance, error) {
	for attempt := 1; ; attempt++ {
		i, again, err := d.tryFork(ctx, from, of, name, snapshot, env)
		if err == nil || !again || attempt == forkAttempts {
			return i, err
		}
	}
}

// tryFork is one attempt of fork. Its directory has a temporary name until it is complete. again reports whether another
// sandbox has taken what AdaptFork chose.
func (d *Driver) tryFork(ctx context.Context, from Operated, of, name, snapshot string, env []string) (i sandbox.Instance, again bool, err error) {
	record, err := d.Store.Load(of)
	if err != nil {
		return nil, false, err
	}
	adapted, err := d.adaptFork(ctx, &record.Spec)
	if err != nil {
		return nil, false, err
	}
	record.State = ""
	record.ID, record.Name, record.Created, record.Spec.Name = name, name, time.Now(), name
	if record.Spec.Stage != "" {
		record.Spec.Stage = name
	}
	held, err := d.Store.add(record, func(dir string) error {
		state := filepath.Join(dir, stateDir)
		if err := os.Mkdir(state, 0o700); err != nil {
			return err
		}
		return SaveState(ctx, from, state, snapshot)
	})
	if err != nil {
		return nil, false, err
	}
	i, err = d.begin(ctx, name, held, env)
	if err != nil {
		again = adapted && sandbox.CodeOf(err) == sandbox.Exists
		ctx = context.WithoutCancel(ctx)
		return nil, again, errors.Join(err, d.revert(ctx, record), d.destroy(ctx, name))
	}
	return i, false, nil
}

func (d *Driver) adaptFork(ctx context.Context, spec *sandbox.Spec) (adapted bool, err error) {
	if d.AdaptFork == nil {
		return false, nil
	}
	records, _ := d.Store.all() // a damaged record belongs to no sandbox that can start
	var others []sandbox.Spec
	for _, r := range records {
		others = append(others, r.Spec)
	}
	return d.AdaptFork(ctx, spec, others)
}

// begin starts a sandbox whose lock this process holds, and connects to it.
func (d *Driver) begin(ctx context.Context, name string, held *lock, env []string) (sandbox.Instance, error) {
	if err := d.startLocked(ctx, name, held, env); err != nil {
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
