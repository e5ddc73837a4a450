package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// day returns the start of a time's day in the store's location, and the start of the next day.
func (s *Store) day(at time.Time) (from, to time.Time) {
	y, m, d := at.In(s.opts.Location).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, s.opts.Location), time.Date(y, m, d+1, 0, 0, 0, 0, s.opts.Location)
}

// admit returns what the user's limits leave for a run, within the transaction that books the run.
func (s *Store) admit(ctx context.Context, tx *sql.Tx, r Run, l Limits, now time.Time) (Left, error) {
	left := Left{Tokens: math.MaxInt64, USD: math.Inf(1)}
	if l.Requests <= 0 && l.Tokens <= 0 && l.USD <= 0 {
		return left, nil
	}
	open, err := s.alive(ctx, tx, r.User)
	if err != nil {
		return left, err
	}
	if l.Requests > 0 && len(open) >= l.Requests {
		return left, sandbox.Errorf(sandbox.Exhausted, "user %s has %d requests running; %d at once are allowed", quoteBriefly(r.User), len(open), l.Requests).
			WithHint("wait until one of them has ended")
	}
	from, to := s.day(now)
	tokens, spent, err := sumUsage(ctx, tx, r.User, from, to, open)
	if err != nil {
		return left, err
	}
	free := "it is free again at " + to.Format("2006-01-02 15:04 MST")
	if l.Tokens > 0 {
		if left.Tokens = max(0, l.Tokens-tokens); left.Tokens == 0 || r.ReserveTokens > left.Tokens {
			return left, sandbox.Errorf(sandbox.Exhausted, "user %s has %d tokens left of %d a day, and this needs %d", quoteBriefly(r.User),
				left.Tokens, l.Tokens, max(1, r.ReserveTokens)).WithHint("%s", free)
		}
	}
	if l.USD > 0 {
		if left.USD = max(0, l.USD-spent); left.USD == 0 || r.ReserveUSD > left.USD {
			return left, sandbox.Errorf(sandbox.Exhausted, "user %s has $%.4f left of $%.2f a day, and this may cost $%.4f", quoteBriefly(r.User),
				left.USD, l.USD, r.ReserveUSD).WithHint("%s", free)
		}
	}
	return left, nil
}

// sumUsage returns a user's usage between two times, and the excess that the open runs have reserved.
func sumUsage(ctx context.Context, tx *sql.Tx, user string, from, to time.Time, open []string) (tokens int64, cost float64, err error) {
	const sum = `SELECT coalesce(sum(input + output + cache_read + cache_write), 0), coalesce(sum(cost), 0.0)
		FROM runs WHERE user = ? AND started >= ? AND started < ?`
	if err = tx.QueryRowContext(ctx, sum, user, millis(from), millis(to)).Scan(&tokens, &cost); err != nil {
		return 0, 0, err
	}
	for _, id := range open {
		const more = `SELECT max(0, reserved_tokens - input - output - cache_read - cache_write),
			max(0.0, reserved_usd - coalesce(cost, 0.0)) FROM runs WHERE id = ?`
		var t int64
		var c float64
		if err = tx.QueryRowContext(ctx, more, id).Scan(&t, &c); err != nil {
			return 0, 0, err
		}
		tokens, cost = tokens+t, cost+c
	}
	return tokens, cost, nil
}

// alive returns a user's open runs whose processes are alive. It closes the runs of dead processes with the outcome
// Unfinished.
func (s *Store) alive(ctx context.Context, tx *sql.Tx, user string) ([]string, error) {
	rows, err := tx.QueryContext(ctx, "SELECT id FROM runs WHERE user = ? AND outcome IS NULL", user)
	if err != nil {
		return nil, err
	}
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		ids = append(ids, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	var out []string
	for _, id := range ids {
		running, err := s.running(ctx, id)
		if err != nil {
			return nil, err
		}
		if running {
			out = append(out, id)
		} else if _, err := tx.ExecContext(ctx, "UPDATE runs SET outcome = ? WHERE id = ?", Unfinished, id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Unfinished is the outcome of a run whose process died before it finished the run.
const Unfinished = "unfinished"

// running reports whether the process of an open run is alive: it holds the run's lock.
func (s *Store) running(ctx context.Context, id string) (bool, error) {
	// Shared, so that two readers do not mistake each other for the run.
	h, err := s.lock(ctx, "run-"+encodeComponent(id), shared, false)
	if errors.Is(err, errHeld) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	h.release(true)
	return false, nil
}
