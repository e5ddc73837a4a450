package command_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
)

// books DIR fills a store with runs of two users in the first days of 2024.
func books(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: books DIR")
	}
	now := time.Date(2024, 1, 30, 9, 0, 0, 0, time.UTC)
	ctx := context.Background()
	s, err := store.Open(ctx, ts.MkAbs(args[0]), store.Options{Now: func() time.Time { return now }, Location: time.UTC})
	ts.Check(err)
	half := 0.5
	for _, c := range []struct {
		user, chat, assistant, text string
		result                      event.Response
	}{
		{"ann", "fix", "coder", "Fix the test,\nplease", event.Response{
			Outcome: event.Success, CostUSD: &half, DurationMS: 65_000,
			Usage: event.Usage{Input: 1234567, Output: 890, CacheRead: 1000, CacheWrite: 12},
		}},
		{"ann", "both", "coder", "one", event.Response{Outcome: event.Success, Usage: event.Usage{Input: 100}, DurationMS: 400}},
		{"ann", "both", "coder", "\x1b[2Jtwo\tsuccess: 1 turn", event.Response{Outcome: event.APIError}},
		{"bob\x1b[31m", "both", "writer\nuser: x", "write", event.Response{Outcome: event.Success, CostUSD: &half, Models: []event.ModelUsage{
			{Model: "large", Usage: event.Usage{Input: 10}, CostUSD: &half}, {Model: "small", Usage: event.Usage{Output: 5}},
		}, Usage: event.Usage{Input: 10, Output: 5}}},
	} {
		ts.Check(bookRun(ctx, s, c.user, c.chat, c.assistant, c.text, c.result))
		now = now.Add(20 * time.Hour)
	}
	killed, err := s.Begin(ctx, store.Run{User: "ann", Assistant: "coder"}, store.Limits{})
	ts.Check(err)
	ts.Check(errors.Join(killed.Close(), s.Close()))
}

// bookRun records a run in the store.
func bookRun(ctx context.Context, s *store.Store, user, chat, assistant, text string, result event.Response) error {
	c, err := s.Converse(ctx, store.Request{User: user, Chat: chat, Assistant: assistant})
	if err != nil {
		return err
	}
	r, err := s.Begin(ctx, store.Run{User: user, Assistant: assistant, Chat: chat, Model: "v3"}, store.Limits{})
	if err != nil {
		return errors.Join(err, c.Close())
	}
	if _, err := s.Audit(ctx, store.Record{User: user, Action: "run", Subject: assistant, Decision: "allowed"}); err != nil {
		return errors.Join(err, c.Close())
	}
	said := message.New(message.User, text)
	said.Parts = append(said.Parts, message.Part{Type: message.File, Name: "a\x1b.txt", MediaType: "text/plain", Data: []byte("hello")})
	w, err := s.OpenWorkspace(ctx, user, chat, store.Limits{})
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(w.Dir, "out"), nil, 0o600), w.Close())
	}
	turn := store.Turn{Messages: []message.Message{said, message.New(message.Assistant, "Done.")}, Run: r.ID}
	return errors.Join(err, c.Append(ctx, turn), r.Finish(ctx, result), c.Close())
}

// tamper DIR changes the second record of the audit in a store.
func tamper(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tamper DIR")
	}
	db, err := sql.Open("sqlite", filepath.Join(ts.MkAbs(args[0]), "agent.db"))
	ts.Check(err)
	// A process that can write to the file can also remove the triggers that protect its
	// records.
	rows, err := db.QueryContext(context.Background(), "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'")
	ts.Check(err)
	change := ""
	for rows.Next() {
		var name string
		ts.Check(rows.Scan(&name))
		change += "DROP TRIGGER " + name + ";"
	}
	ts.Check(errors.Join(rows.Err(), rows.Close()))
	_, err = db.ExecContext(context.Background(), change+"UPDATE audit SET user = 'eve' WHERE seq = 2")
	ts.Check(errors.Join(err, db.Close()))
}
