package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func begin(t *testing.T, s *store.Store, r store.Run, l store.Limits) *store.Running {
	t.Helper()
	if r.Assistant == "" {
		r.Assistant = "coder"
	}
	got, err := s.Begin(t.Context(), r, l)
	must(t, err)
	t.Cleanup(func() { must(t, got.Close()) })
	return got
}

func Test_A_Run_Is_Booked_Once(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := open(t, t.TempDir(), store.Options{Now: now.now})
	r := begin(t, s, store.Run{ID: "r1", User: "ann", Chat: "c1", Connector: "deepseek.v3", Model: "v3"}, store.Limits{})
	_, err := s.Begin(t.Context(), store.Run{ID: "r1", User: "ann", Assistant: "coder"}, store.Limits{})
	wants(t, err, sandbox.Exists, "run r1 is running")
	used := event.Response{Usage: event.Usage{Input: 5, Output: 1}}
	must(t, r.Progress(t.Context(), used))
	now.add(1500 * time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the caller has gone; the run is booked anyway
	result := event.Response{
		Outcome: event.Success, Usage: event.Usage{Input: 10, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 1}, CostUSD: new(0.25),
		Turns: 2, Tools: 3, Denials: make([]event.Denial, 4), Executor: "claude",
	}
	must(t, r.Finish(ctx, result))
	result.CostUSD, result.Outcome = new(99.0), event.Failed
	must(t, r.Finish(t.Context(), result))
	must(t, r.Progress(t.Context(), result))
	_, err = s.Begin(t.Context(), store.Run{ID: "r1", User: "ann", Assistant: "coder"}, store.Limits{})
	wants(t, err, sandbox.Exists, "run r1 is booked already")
	runs, err := s.Runs(t.Context(), store.Query{}, 0)
	must(t, err)
	got, _ := json.Marshal(runs)
	const want = `[{"id":"r1","user":"ann","assistant":"coder","chat":"c1","connector":"deepseek.v3","executor":"claude","outcome":"success",` +
		`"started":"2026-03-10T12:00:00Z","duration_ms":1500,"turns":2,"tools":3,"denials":4,` +
		`"usage":{"input":10,"output":2,"cache_read":3,"cache_write":4,"reasoning":1},"cost_usd":0.25}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	models, err := s.Usage(t.Context(), store.Query{By: store.ByModel})
	must(t, err)
	if len(models.Sums) != 1 || models.Sums[0].Key != "v3" || models.Sums[0].Usage != runs[0].Usage || *models.Total.CostUSD != 0.25 {
		t.Errorf("%+v", models)
	}
}

func Test_An_Unfinished_Run_Preserves_Its_Usage(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := open(t, t.TempDir(), store.Options{Now: now.now})
	r := begin(t, s, store.Run{User: "ann"}, store.Limits{})
	now.add(time.Second)
	must(t, r.Progress(t.Context(), event.Response{Usage: event.Usage{Input: 50}, CostUSD: new(1.0)}))
	must(t, r.Close())
	begin(t, s, store.Run{User: "ann"}, store.Limits{Requests: 1})
	got, err := s.Usage(t.Context(), store.Query{By: store.ByModel})
	must(t, err)
	if x := got.Total; x.Runs != 2 || x.Unfinished != 2 || x.Failed != 0 || x.Usage.Input != 50 || *x.CostUSD != 1 || len(got.Sums) != 1 {
		t.Errorf("%+v", got)
	}
	runs, err := s.Runs(t.Context(), store.Query{}, 1)
	must(t, err)
	if len(runs) != 1 || runs[0].Outcome != "running" {
		t.Errorf("%+v", runs)
	}
}

func Test_Bad_Runs_Are_Refused_And_Extreme_Numbers_Are_Clamped(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), store.Options{})
	for _, c := range []struct {
		run  store.Run
		text string
	}{
		{store.Run{ID: "../x", User: "ann", Assistant: "coder"}, `id "../x"`},
		{store.Run{User: "", Assistant: "coder"}, `user ""`},
		{store.Run{User: "ann"}, `assistant ""`},
		{store.Run{User: "ann", Assistant: "coder", Chat: "a b"}, `id "a b"`},
		{store.Run{User: "ann", Assistant: "coder", Model: strings.Repeat("m", 300)}, "model"},
		{store.Run{User: "ann", Assistant: "coder", ReserveTokens: -1}, "no negative numbers"},
		{store.Run{User: "ann", Assistant: "coder", ReserveUSD: math.NaN()}, "no negative numbers"},
	} {
		_, err := s.Begin(t.Context(), c.run, store.Limits{})
		wants(t, err, sandbox.Invalid, c.text)
	}
	for _, cost := range []float64{math.NaN(), math.Inf(1), -5} {
		r := begin(t, s, store.Run{User: "ann"}, store.Limits{})
		wild := event.Usage{Input: math.MaxInt64, Output: math.MinInt64, CacheRead: math.MaxInt64}
		models := []event.ModelUsage{{Model: strings.Repeat("é", 1000), Usage: wild, CostUSD: &cost}, {Model: strings.Repeat("é", 1000), Usage: wild}}
		must(t, r.Finish(t.Context(), event.Response{Outcome: "odd", Usage: wild, CostUSD: &cost, Models: models, DurationMS: math.MaxInt64}))
	}
	for _, by := range []store.By{store.ByUser, store.ByModel, store.ByDay} {
		got, err := s.Usage(t.Context(), store.Query{By: by})
		must(t, err)
		if x := got.Total; x.Runs != 3 || x.Failed != 3 || x.Unpriced != 3 || x.CostUSD != nil || x.Usage.Input != 3e12 || x.Usage.Output != 0 {
			t.Errorf("%+v", x)
		}
	}
	_, err := s.Usage(t.Context(), store.Query{By: "color"})
	wants(t, err, sandbox.Invalid, `usage by "color": expected user, assistant, model or day`)
}

// books has runs of two users on days when Berlin changes its clocks (2026-03-29, at 1 o'clock UTC).
func books(t *testing.T) *store.Store {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	must(t, err)
	now := newClock()
	s := open(t, t.TempDir(), store.Options{Now: now.now, Location: berlin})
	for _, c := range []struct {
		user, at string
		result   event.Response
	}{
		{"ann", "2026-03-28T22:59:59Z", event.Response{Outcome: event.Success, CostUSD: new(1.0), Usage: event.Usage{Input: 1}}},
		{"ann", "2026-03-28T23:00:00Z", event.Response{Outcome: event.Failed, Usage: event.Usage{Input: 10}}},
		{"bob", "2026-03-29T21:59:59Z", event.Response{Outcome: event.Success, CostUSD: new(0.5), Usage: event.Usage{Input: 100}, Models: []event.ModelUsage{
			{Model: "large", Usage: event.Usage{Input: 90}, CostUSD: new(0.5)}, {Model: "small", Usage: event.Usage{Input: 10}},
		}}},
		{"bob", "2026-03-29T22:00:00Z", event.Response{Outcome: event.APIError}},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		must(t, err)
		now.add(at.Sub(now.now()))
		must(t, begin(t, s, store.Run{User: c.user, Assistant: "a" + c.user, Model: "large"}, store.Limits{}).Finish(t.Context(), c.result))
	}
	return s
}

func Test_Usage_Is_Summed_Up(t *testing.T) {
	t.Parallel()
	s := books(t)
	day := func(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		name  string
		query store.Query
		want  string // key: runs/failed/unpriced input cost
	}{
		{"by user", store.Query{}, "ann: 2/1/1 11 1; bob: 2/1/0 100 0.5; total 4/2/1 111 1.5"},
		{"by assistant", store.Query{By: store.ByAssistant}, "aann: 2/1/1 11 1; abob: 2/1/0 100 0.5; total 4/2/1 111 1.5"},
		{"by model", store.Query{By: store.ByModel}, "large: 4/2/1 101 1.5; small: 1/0/1 10 -; total 4/2/1 111 1.5"},
		{"by day of Berlin", store.Query{By: store.ByDay}, "2026-03-28: 1/0/0 1 1; 2026-03-29: 2/1/1 110 0.5; 2026-03-30: 1/1/0 0 -; total 4/2/1 111 1.5"},
		{"of a user", store.Query{By: store.ByDay, User: "ann"}, "2026-03-28: 1/0/0 1 1; 2026-03-29: 1/1/1 10 -; total 2/1/1 11 1"},
		{"of an assistant", store.Query{Assistant: "abob"}, "bob: 2/1/0 100 0.5; total 2/1/0 100 0.5"},
		{"from and to", store.Query{From: day(29), To: day(30)}, "bob: 2/1/0 100 0.5; total 2/1/0 100 0.5"},
		{"of an unknown user", store.Query{User: "carl"}, "total 0/0/0 0 -"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := s.Usage(t.Context(), c.query)
			must(t, err)
			text := ""
			for _, x := range got.Sums {
				text += x.Key + ": " + brief(x) + "; "
			}
			if text += "total " + brief(got.Total); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

func brief(x store.Sum) string {
	cost := "-"
	if x.CostUSD != nil {
		cost = fmt.Sprint(*x.CostUSD)
	}
	return fmt.Sprintf("%d/%d/%d %d %s", x.Runs, x.Failed, x.Unpriced, x.Usage.Input, cost)
}

func Test_Limits_Of_A_User_Hold(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := open(t, t.TempDir(), store.Options{Now: now.now, Location: time.FixedZone("EST", -5*3600)})
	l := store.Limits{Requests: 2, Tokens: 1000, USD: 2}
	run := store.Run{User: "ann", Assistant: "coder", ReserveTokens: 400, ReserveUSD: 0.5}
	try := func(r store.Run) error {
		got, err := s.Begin(t.Context(), r, l)
		if err == nil {
			err = got.Finish(t.Context(), event.Response{})
		}
		return err
	}
	one := begin(t, s, run, l)
	if one.Left.Tokens != 1000 || one.Left.USD != 2 {
		t.Errorf("%+v", one.Left)
	}
	must(t, one.Progress(t.Context(), event.Response{Usage: event.Usage{Input: 100, CacheRead: 50, Output: 50}, CostUSD: new(0.1)}))
	two := begin(t, s, run, l)
	if two.Left.Tokens != 600 || two.Left.USD != 1.5 { // used tokens do not count twice
		t.Errorf("%+v", two.Left)
	}
	wants(t, try(run), sandbox.Exhausted, `user "ann" has 2 requests running; 2 at once are allowed hint: wait`)
	must(t, two.Finish(t.Context(), event.Response{Outcome: event.Success, Usage: event.Usage{Input: 300}, CostUSD: new(1.2)}))
	wants(t, try(run), sandbox.Exhausted, `has 300 tokens left of 1000 a day, and this needs 400 hint: it is free again at 2026-03-11 00:00 EST`)
	dear := store.Run{User: "ann", Assistant: "coder", ReserveUSD: 0.4}
	wants(t, try(dear), sandbox.Exhausted, "has $0.3000 left of $2.00 a day, and this may cost $0.4000")
	must(t, try(store.Run{User: "bob", Assistant: "coder", ReserveTokens: 1000}))
	must(t, one.Finish(t.Context(), event.Response{Outcome: event.Success, Usage: event.Usage{Input: 700}}))
	wants(t, try(store.Run{User: "ann", Assistant: "coder"}), sandbox.Exhausted, "has 0 tokens left")
	now.add(16*time.Hour + 59*time.Minute) // 23:59 there
	wants(t, try(run), sandbox.Exhausted, "has 0 tokens left")
	now.add(time.Minute)
	must(t, try(run))
	free := begin(t, s, run, store.Limits{})
	if free.Left.Tokens != math.MaxInt64 || !math.IsInf(free.Left.USD, 1) {
		t.Errorf("no limits: %+v", free.Left)
	}
}

// Y17: a limit does not drift and cannot be exceeded.
func Test_Concurrent_Runs_Do_Not_Exceed_The_Limit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var mu sync.Mutex
	var begun []*store.Running
	var all sync.WaitGroup
	for range 4 {
		s := open(t, dir, store.Options{})
		for range 5 {
			all.Go(func() {
				r, err := s.Begin(t.Context(), store.Run{User: "ann", Assistant: "coder", ReserveTokens: 10}, store.Limits{Requests: 10, Tokens: 30})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					begun = append(begun, r)
				} else if sandbox.CodeOf(err) != sandbox.Exhausted {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if len(begun) != 3 {
		t.Errorf("%d runs began, and 3 are allowed", len(begun))
	}
	for _, r := range begun {
		must(t, r.Close())
	}
}

func Test_The_Audit_Tells_When_It_Was_Changed(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), newClock()
	s := open(t, dir, store.Options{Now: now.now})
	for i := range 5 {
		r, err := s.Audit(t.Context(), store.Record{User: "ann", Action: "run", Subject: fmt.Sprint("r", i), Decision: "allowed"})
		must(t, err)
		if r.Seq != int64(i+1) || !r.At.Equal(now.now()) || len(r.Hash) != 64 {
			t.Errorf("%+v", r)
		}
	}
	for _, bad := range []store.Record{{Action: "run", Decision: "x"}, {User: "a", Decision: "x"}, {User: "a", Action: "run"}, {User: "a", Action: "b", Decision: strings.Repeat("x", 257)}} {
		_, err := s.Audit(t.Context(), bad)
		wants(t, err, sandbox.Invalid, "audit: ")
	}
	for from, want := range map[int64]int{0: 5, 1: 5, 4: 2, 6: 0, 9: 0} {
		n := 0
		must(t, s.Records(t.Context(), from, func(store.Record) error { n++; return nil }))
		if n != want {
			t.Errorf("from %d: %d records", from, n)
		}
	}
	db := raw(t, dir)
	for _, change := range []string{"UPDATE audit SET decision = 'refused' WHERE seq = 3", "DELETE FROM audit WHERE seq = 3"} {
		if _, err := db.ExecContext(t.Context(), change); err == nil || !strings.Contains(err.Error(), "never") {
			t.Errorf("%s: %v", change, err)
		}
	}
	exec(t, db, "DROP TRIGGER audit_holds")
	exec(t, db, "DROP TRIGGER audit_stays")
	for _, change := range []string{"UPDATE audit SET decision = 'refused' WHERE seq = 3", "DELETE FROM audit WHERE seq = 3"} {
		exec(t, db, change)
		err := s.Records(t.Context(), 1, func(store.Record) error { return nil })
		wants(t, err, sandbox.Denied, "the audit was changed at record 3")
	}
}
