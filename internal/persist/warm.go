package persist

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// spareIdle limits the time for which a spare sandbox waits for its adoption.
const spareIdle = time.Hour

// spareStart bounds the start of a spare sandbox.
const spareStart = time.Minute

// adoption is the argument of opAdopt: the new identity of a spare sandbox.
type adoption struct {
	ID    string           `json:"id"`
	Label string           `json:"label"`
	Idle  sandbox.Duration `json:"idle,omitempty"`
	TTL   sandbox.Duration `json:"ttl,omitempty"`
}

// createWarm adopts a spare sandbox with the same fingerprint, or creates a sandbox. Then it prepares a spare for
// the next call. A sandbox that a user has used never becomes a spare.
func (d *Driver) createWarm(ctx context.Context, record Record) (sandbox.Instance, error) {
	f, ok := d.Inner.(sandbox.Fingerprinter)
	if !ok {
		return nil, sandbox.Errorf(sandbox.Unsupported, "%s prepares no sandboxes ahead", d.Name()).WithHint("leave --warm out: they start in no time")
	}
	key, err := f.Fingerprint(ctx, record.Spec)
	if err != nil {
		return nil, err
	}
	i, err := d.claim(ctx, key, record)
	if err == nil && i == nil {
		i, err = d.create(ctx, record)
	}
	if err != nil {
		return nil, err
	}
	if err := d.prepare(key, record); err != nil {
		return nil, errors.Join(err, i.Close(context.WithoutCancel(ctx)))
	}
	return i, nil
}

// claim adopts a spare sandbox with the fingerprint key; nil: none is ready.
func (d *Driver) claim(ctx context.Context, key string, record Record) (*instance, error) {
	spares, err := d.Store.Spares()
	for _, spare := range spares {
		if spare.Spare != key || spare.Backend != record.Backend {
			continue
		}
		i, err := d.adopt(ctx, spare.ID, record)
		// Skip a spare that is not ready yet, or that another process has adopted.
		if code := sandbox.CodeOf(err); code == "" || !slices.Contains([]sandbox.Code{sandbox.Closed, sandbox.NotFound, sandbox.Denied, sandbox.Unavailable}, code) {
			return i, err
		}
	}
	return nil, err
}

func (d *Driver) adopt(ctx context.Context, spare string, record Record) (*instance, error) {
	conn, err := d.Store.connect(ctx, spare) // does not wait for a spare that is starting
	if err != nil {
		return nil, err
	}
	c, err := session.Connect(ctx, conn)
	if err != nil {
		return nil, err
	}
	i := newInstance(d, record.ID, c)
	i.env = record.Spec.Env
	err = c.Operate(ctx, opAdopt, adoption{ID: record.ID, Label: record.Name, Idle: record.Idle, TTL: record.TTL}, nil)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if i.first, err = i.status(ctx); err != nil {
		return nil, errors.Join(err, i.Close(context.WithoutCancel(ctx)))
	}
	return i, nil
}

// prepare starts the missing spare sandboxes and does not wait for them.
func (d *Driver) prepare(key string, record Record) error {
	spares, err := d.Store.Spares()
	if err != nil {
		return err
	}
	missing := d.Warm
	for _, spare := range spares {
		runs, err := d.Store.Runs(spare.ID)
		switch {
		case err == nil && !runs && time.Since(spare.Created) > spareStart: // it could not start, or was stopped
			_ = d.Store.destroy(context.Background(), spare.ID) // the next one tries again
		case spare.Spare == key:
			missing--
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	for range missing {
		id, err := NewID()
		if err != nil {
			return err
		}
		spare := record
		spare.ID, spare.Name, spare.Spec.Name, spare.Spare = "spare-"+id, "", "", key
		spare.State = filepath.Join(d.Store.Dir, statePrefix+id)
		spare.Created, spare.Idle, spare.TTL = time.Now(), sandbox.Duration(spareIdle), 0
		held, err := d.Store.add(spare, nil)
		if err != nil {
			return err
		}
		if _, err := d.launch(spare.ID, held, record.Spec.Env, null); err != nil {
			return errors.Join(err, d.Store.remove(spare.ID))
		}
	}
	return nil
}

// adopt gives a spare sandbox its new identity. Denied: it was adopted already. Exists: the name is taken.
func (k *keeper) adopt(arg json.RawMessage) error {
	var a adoption
	if err := json.Unmarshal(arg, &a); err != nil {
		return sandbox.Errorf(sandbox.Invalid, "the argument of %s: %w", opAdopt, err)
	}
	if err := CheckName(a.ID); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.record
	if old.Spare == "" {
		return sandbox.Errorf(sandbox.Denied, "sandbox %s was adopted already", old.ID)
	}
	r := old
	r.ID, r.Name, r.Spec.Name, r.Spare, r.Created = a.ID, a.Label, a.Label, "", time.Now()
	r.Idle, r.TTL = a.Idle, a.TTL
	if err := k.store.rename(old, r); err != nil {
		return err
	}
	k.record = r
	if k.change != nil { // so that wait uses the new timers
		close(k.change)
		k.change = nil
	}
	return nil
}
