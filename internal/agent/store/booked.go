package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// Booked is a run as recorded in the database.
type Booked struct {
	ID         string      `json:"id"`
	User       string      `json:"user"`
	Assistant  string      `json:"assistant"`
	Chat       string      `json:"chat,omitempty"`
	Connector  string      `json:"connector,omitempty"`
	Executor   string      `json:"executor,omitempty"`
	Outcome    string      `json:"outcome"` // an event.Outcome; Unfinished; or "running"
	Started    time.Time   `json:"started"`
	DurationMS int64       `json:"duration_ms"`
	Turns      int64       `json:"turns"`
	Tools      int64       `json:"tools"`
	Denials    int64       `json:"denials"`
	Usage      event.Usage `json:"usage"`
	CostUSD    *float64    `json:"cost_usd"`            // nil: unknown
	Estimated  bool        `json:"estimated,omitempty"` // no result reported the usage
}

// Runs returns at most that many runs of a query, newest first; 0: all. It ignores Query.By.
func (s *Store) Runs(ctx context.Context, q Query, most int) ([]Booked, error) {
	const query = `SELECT id, user, assistant, chat, connector, executor, coalesce(outcome, ''), started, duration, turns, tools, denials,
		input, output, cache_read, cache_write, reasoning, cost, estimated FROM runs
		WHERE (?1 = '' OR user = ?1) AND (?2 = '' OR assistant = ?2) AND started >= ?3 AND (?4 = 0 OR started < ?4)
		ORDER BY started DESC, id DESC LIMIT ?5`
	if most <= 0 {
		most = -1
	}
	var out []Booked
	err := s.each(ctx, func(rows *sql.Rows) error {
		var b Booked
		var started int64
		u := &b.Usage
		err := rows.Scan(&b.ID, &b.User, &b.Assistant, &b.Chat, &b.Connector, &b.Executor, &b.Outcome, &started, &b.DurationMS, &b.Turns,
			&b.Tools, &b.Denials, &u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning, &b.CostUSD, &b.Estimated)
		b.Started = s.time(started)
		out = append(out, b)
		return err
	}, query, q.User, q.Assistant, millis(q.From), millis(q.To), most)
	for i := range out {
		if out[i].Outcome != "" || err != nil {
			continue
		}
		var running bool
		if running, err = s.running(ctx, out[i].ID); running {
			out[i].Outcome = "running"
		} else {
			out[i].Outcome = Unfinished
		}
	}
	return out, err
}
