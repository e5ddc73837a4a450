package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// By is the key by which usage is summed.
type By string

// The keys.
const (
	ByUser      By = "user"
	ByAssistant By = "assistant"
	ByModel     By = "model" // a run with two models counts for both
	ByDay       By = "day"   // on which a run began, in the store's location
)

// Query selects runs and the key of their sums.
type Query struct {
	By              By     // "": ByUser
	User, Assistant string // "": all
	From, To        time.Time
	// Runs that began at From or later, and before To. Zero: no bound.
}

// Sum is the usage of some runs.
type Sum struct {
	Key        string      `json:"key"` // the user, assistant, model or day, such as "2026-01-31"
	Runs       int64       `json:"runs"`
	Failed     int64       `json:"failed"`     // finished without success
	Unfinished int64       `json:"unfinished"` // running, or their processes died
	Usage      event.Usage `json:"usage"`
	CostUSD    *float64    `json:"cost_usd"`    // of the runs whose cost is known; nil: none
	Unpriced   int64       `json:"unpriced"`    // runs that used tokens and whose cost is unknown
	DurationMS int64       `json:"duration_ms"` // sum of the runs' durations
	Turns      int64       `json:"turns"`
	Tools      int64       `json:"tools"`
	Denials    int64       `json:"denials"`
}

// Totals are sums by one key, sorted by it, and their total.
type Totals struct {
	By    By    `json:"by"`
	Sums  []Sum `json:"sums"`
	Total Sum   `json:"total"` // counts each run once
}

// bucket is the fraction of an hour at which days begin in every time zone.
const bucket = int64(15 * time.Minute / time.Millisecond)

// Usage sums the usage and cost of runs.
func (s *Store) Usage(ctx context.Context, q Query) (Totals, error) {
	if q.By == "" {
		q.By = ByUser
	}
	out := Totals{By: q.By}
	keys := map[By]string{ByUser: "runs.user", ByAssistant: "runs.assistant", ByModel: "m.model", ByDay: fmt.Sprintf("(runs.started / %d)", bucket)}
	key, ok := keys[q.By]
	if !ok {
		return out, sandbox.Errorf(sandbox.Invalid, "usage by %s: expected user, assistant, model or day", quoteBriefly(string(q.By)))
	}
	sums, err := s.sums(ctx, q, key, q.By == ByModel)
	if err != nil {
		return out, err
	}
	if q.By == ByDay {
		sums = s.days(sums)
	}
	slices.SortFunc(sums, func(a, b Sum) int { return cmp.Compare(a.Key, b.Key) })
	out.Sums = append([]Sum{}, sums...) // [] in JSON
	total, err := s.sums(ctx, q, "''", false)
	if err != nil || len(total) == 0 {
		return out, err
	}
	out.Total = total[0]
	return out, nil
}

// sums queries one sum for each value of key. models takes tokens and cost from the rows of models.
func (s *Store) sums(ctx context.Context, q Query, key string, models bool) ([]Sum, error) {
	from, t := "runs", "runs"
	if models {
		from, t = "runs JOIN run_models AS m ON m.run = runs.id", "m"
	}
	query := fmt.Sprintf(`SELECT CAST(%[1]s AS TEXT), count(*), sum(outcome IS NOT NULL AND outcome NOT IN ('%[4]s', '%[5]s')),
		sum(outcome IS NULL OR outcome = '%[5]s'), sum(%[3]s.input), sum(%[3]s.output), sum(%[3]s.cache_read), sum(%[3]s.cache_write),
		sum(%[3]s.reasoning), sum(%[3]s.cost),
		sum(%[3]s.cost IS NULL AND %[3]s.input + %[3]s.output + %[3]s.cache_read + %[3]s.cache_write > 0),
		sum(duration), sum(turns), sum(tools), sum(denials) FROM %[2]s
		WHERE (?1 = '' OR user = ?1) AND (?2 = '' OR assistant = ?2) AND started >= ?3 AND (?4 = 0 OR started < ?4) GROUP BY %[1]s`,
		key, from, t, event.Success, Unfinished)
	if key == "''" { // a single group without a name
		query = query[:len(query)-len(" GROUP BY ''")] + " HAVING count(*) > 0"
	}
	var out []Sum
	err := s.each(ctx, func(rows *sql.Rows) error {
		var x Sum
		u := &x.Usage
		err := rows.Scan(&x.Key, &x.Runs, &x.Failed, &x.Unfinished, &u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning,
			&x.CostUSD, &x.Unpriced, &x.DurationMS, &x.Turns, &x.Tools, &x.Denials)
		out = append(out, x)
		return err
	}, query, q.User, q.Assistant, millis(q.From), millis(q.To))
	return out, err
}

// days sums fractions of hours to days.
func (s *Store) days(parts []Sum) []Sum {
	byDay := map[string]*Sum{}
	for _, p := range parts {
		var n int64
		_, _ = fmt.Sscan(p.Key, &n) // the query returns whole numbers
		p.Key = time.UnixMilli(n * bucket).In(s.opts.Location).Format(time.DateOnly)
		if d := byDay[p.Key]; d != nil {
			d.add(p)
		} else {
			byDay[p.Key] = &p
		}
	}
	out := make([]Sum, 0, len(byDay))
	for _, d := range byDay {
		out = append(out, *d)
	}
	return out
}

func (s *Sum) add(p Sum) {
	s.Runs, s.Failed, s.Unfinished, s.Unpriced = s.Runs+p.Runs, s.Failed+p.Failed, s.Unfinished+p.Unfinished, s.Unpriced+p.Unpriced
	s.Usage = s.Usage.Add(p.Usage)
	s.DurationMS, s.Turns, s.Tools, s.Denials = s.DurationMS+p.DurationMS, s.Turns+p.Turns, s.Tools+p.Tools, s.Denials+p.Denials
	switch {
	case s.CostUSD == nil:
		s.CostUSD = p.CostUSD
	case p.CostUSD != nil:
		both := *s.CostUSD + *p.CostUSD
		s.CostUSD = &both
	}
}
