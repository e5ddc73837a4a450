package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Run describes a run to begin.
type Run struct {
	ID            string // unique; "": a new one
	User          string
	Assistant     string
	Chat          string // "": none
	Connector     string // "": unknown
	Executor      string // "": a direct request to a model
	Model         string // the model of a usage without models; "": unknown
	ReserveTokens int64  // tokens that it may use at most; reserved from the user's day until the run ends. 0: unknown
	ReserveUSD    float64
}

// Limits of a user. 0 means no limit.
type Limits struct {
	Requests   int     // runs at once
	Tokens     int64   // per day, prompts and answers including cached tokens
	USD        float64 // per day
	Workspaces int     // of a user
}

// Running is a run that has begun and is not finished. It is safe for concurrent use.
type Running struct {
	ID      string
	Started time.Time
	Left    Left // of the user's day when the run began

	store *Store
	model string
	mu    sync.Mutex
	held  *held // guarded by mu; nil: closed
}

// Left is the part of a user's limits that a run can still use, without the reservations of other runs.
type Left struct {
	Tokens int64   // math.MaxInt64: no limit
	USD    float64 // +Inf: no limit
}

// Begin books the start of a run. Exhausted: a limit of the user is reached; the hint says when it allows a run again.
// The check and the booking are atomic. The caller finishes and closes the run; a run whose
// process died before that stays recorded as unfinished and reserves nothing.
func (s *Store) Begin(ctx context.Context, r Run, l Limits) (*Running, error) {
	now := s.now()
	if r.ID == "" {
		r.ID = NewID(now)
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	h, err := s.lock(ctx, "run-"+encodeComponent(r.ID), exclusive, false)
	if errors.Is(err, errHeld) {
		return nil, sandbox.Errorf(sandbox.Exists, "run %s is running", r.ID)
	}
	if err != nil {
		return nil, err
	}
	out := &Running{ID: r.ID, Started: s.time(millis(now)), store: s, model: r.Model, held: h}
	err = s.write(ctx, func(tx *sql.Tx) error {
		var err error
		if out.Left, err = s.admit(ctx, tx, r, l, now); err != nil {
			return err
		}
		const put = `INSERT INTO runs (id, user, assistant, chat, connector, executor, started, reserved_tokens, reserved_usd)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
		res, err := tx.ExecContext(ctx, put, r.ID, r.User, r.Assistant, r.Chat, r.Connector, r.Executor, millis(now), clampCount(r.ReserveTokens), r.ReserveUSD)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, sandbox.Errorf(sandbox.Exists, "run %s is booked already", r.ID))
		}
		return bookModels(ctx, tx, r.ID, []event.ModelUsage{{Model: r.Model}})
	})
	if err != nil {
		h.release(true)
		return nil, err
	}
	return out, nil
}

func (r Run) check() error {
	if err := CheckID(r.ID); err != nil {
		return err
	}
	for _, n := range []struct{ what, name string }{{"user", r.User}, {"assistant", r.Assistant}} {
		if err := checkName(n.what, n.name); err != nil {
			return err
		}
	}
	for _, n := range []struct{ what, name string }{{"connector", r.Connector}, {"executor", r.Executor}, {"model", r.Model}} {
		if n.name != "" {
			if err := checkName(n.what, n.name); err != nil {
				return err
			}
		}
	}
	if r.Chat != "" {
		if err := CheckID(r.Chat); err != nil {
			return err
		}
	}
	if clampCost(&r.ReserveUSD) == nil || r.ReserveTokens < 0 {
		return sandbox.Errorf(sandbox.Invalid, "a run reserves %d tokens and %g US dollars: expected no negative numbers", r.ReserveTokens, r.ReserveUSD)
	}
	return nil
}

// Progress books the run's usage so far, so that it survives this process.
func (r *Running) Progress(ctx context.Context, used event.Response) error {
	return r.book(ctx, nil, used)
}

// Finish books the run's result once and closes the run; it does not change a finished run. It books even if ctx is canceled.
func (r *Running) Finish(ctx context.Context, result event.Response) error {
	if result.Outcome == "" {
		result.Outcome = event.NoResult
	}
	outcome := string(result.Outcome)
	if err := r.book(context.WithoutCancel(ctx), &outcome, result); err != nil {
		return err
	}
	return r.Close()
}

func (r *Running) book(ctx context.Context, outcome *string, e event.Response) error {
	took := clampCount(e.DurationMS)
	if took == 0 {
		took = max(0, millis(r.store.now())-millis(r.Started))
	}
	u := e.Usage
	const set = `UPDATE runs SET outcome = ?, duration = ?, turns = ?, tools = ?, denials = ?, input = ?, output = ?, cache_read = ?,
		cache_write = ?, reasoning = ?, cost = ?, estimated = ?, executor = CASE executor WHEN '' THEN ? ELSE executor END
		WHERE id = ? AND outcome IS NULL`
	return r.store.write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, set, outcome, took, clampCount(e.Turns), clampCount(e.Tools), len(e.Denials), clampCount(u.Input), clampCount(u.Output),
			clampCount(u.CacheRead), clampCount(u.CacheWrite), clampCount(u.Reasoning), clampCost(e.CostUSD), e.Estimated || outcome == nil, cutName(e.Executor), r.ID)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return err
		}
		return bookModels(ctx, tx, r.ID, r.models(e))
	})
}

// models returns the usage by model, or the run's total if the models report none.
func (r *Running) models(e event.Response) []event.ModelUsage {
	whole := event.ModelUsage{Model: r.model, Usage: e.Usage, CostUSD: e.CostUSD}
	switch {
	case len(e.Models) == 0:
		return []event.ModelUsage{whole}
	case len(e.Models) == 1 && e.Models[0].Usage == event.Usage{}:
		whole.Model = e.Models[0].Model
		return []event.ModelUsage{whole}
	}
	return e.Models[:min(len(e.Models), maxModels)]
}

const maxModels = 100 // of a run

func bookModels(ctx context.Context, tx *sql.Tx, run string, models []event.ModelUsage) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM run_models WHERE run = ?", run); err != nil {
		return err
	}
	for _, m := range models {
		const put = `INSERT INTO run_models VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET input = input + excluded.input,
			output = output + excluded.output, cache_read = cache_read + excluded.cache_read,
			cache_write = cache_write + excluded.cache_write, reasoning = reasoning + excluded.reasoning, cost = cost + excluded.cost`
		u := m.Usage
		if _, err := tx.ExecContext(ctx, put, run, cutName(m.Model), clampCount(u.Input), clampCount(u.Output), clampCount(u.CacheRead),
			clampCount(u.CacheWrite), clampCount(u.Reasoning), clampCost(m.CostUSD)); err != nil {
			return fmt.Errorf("model %s: %w", quoteBriefly(m.Model), err)
		}
	}
	return nil
}

// Close releases the run's reservation. An unfinished run stays recorded as
// unfinished. Further calls do nothing.
func (r *Running) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held != nil {
		r.held.release(true)
		r.held = nil
	}
	return nil
}

// clampCount clamps an external number so that many of them can be summed.
func clampCount(n int64) int64 { return min(max(0, n), 1e12) }

// clampCost returns a cost that can be summed, or nil (unknown) for an invalid external one.
func clampCost(cost *float64) *float64 {
	if cost == nil || !(*cost >= 0 && *cost <= 1e9) || math.IsNaN(*cost) {
		return nil
	}
	return cost
}

// cutName truncates an executor's name of something.
func cutName(name string) string { return strings.ToValidUTF8(name[:min(len(name), maxName)], "") }
