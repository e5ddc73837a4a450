package store_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// clock is a time that the test sets.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// open opens a store in dir until the test ends.
func open(t *testing.T, dir string, o store.Options) *store.Store {
	t.Helper()
	if o.Location == nil {
		o.Location = time.UTC
	}
	s, err := store.Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v (%s)", err, sandbox.HintOf(err))
	}
}

// wants fails the test unless err has the code and one line that contains text.
func wants(t *testing.T, err error, code sandbox.Code, text string) {
	t.Helper()
	if err == nil || sandbox.CodeOf(err) != code || !strings.Contains(err.Error()+" hint: "+sandbox.HintOf(err), text) {
		t.Fatalf("got %q (%s, hint %q), want %s and %q", err, sandbox.CodeOf(err), sandbox.HintOf(err), code, text)
	}
	if strings.Contains(err.Error()+sandbox.HintOf(err), "\n") {
		t.Errorf("more than a line: %q", err)
	}
}

// raw opens the database as any other program would.
func raw(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "agent.db")+"?_pragma=busy_timeout(5000)")
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

func exec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	must(t, err)
}

func number(t *testing.T, db *sql.DB, query string, args ...any) (n int64) {
	t.Helper()
	must(t, db.QueryRowContext(t.Context(), query, args...).Scan(&n))
	return n
}

// say adds a turn to a chat.
func say(t *testing.T, s *store.Store, user, chat, text string) {
	t.Helper()
	c, err := s.Converse(t.Context(), store.Request{User: user, Chat: chat, Assistant: "coder"})
	must(t, err)
	must(t, c.Append(t.Context(), store.Turn{Messages: []message.Message{message.New(message.User, text), message.New(message.Assistant, "yes")}}))
	must(t, c.Close())
}

// request uses the store as a run does: it books, and adds a turn of two messages and a file.
func request(ctx context.Context, s *store.Store, chat string) error {
	const user = "ann"
	c, err := s.Converse(ctx, store.Request{User: user, Chat: chat, Assistant: "coder"})
	if err != nil {
		return err
	}
	r, err := s.Begin(ctx, store.Run{User: user, Assistant: "coder", Chat: chat}, store.Limits{Requests: 1000})
	if err != nil {
		return errors.Join(err, c.Close())
	}
	file := message.Part{Type: message.File, Name: "a.txt", Data: []byte(strings.Repeat(r.ID, 100))}
	turn := store.Turn{Run: r.ID, Messages: []message.Message{
		{Role: message.User, Parts: []message.Part{{Type: message.Text, Text: strings.Repeat("x", 3000)}, file}},
		message.New(message.Assistant, "yes"),
	}}
	err = c.Append(ctx, turn)
	cost := 0.5
	return errors.Join(err, r.Finish(ctx, event.Response{Outcome: event.Success, Usage: event.Usage{Input: 10, Output: 1}, CostUSD: &cost}), c.Close())
}

func Test_Only_Its_User_Can_Read_A_Store(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "odd?name%20#x", "agent")
	must(t, os.MkdirAll(dir, 0o755))
	s := open(t, dir, store.Options{})
	say(t, s, "ann", "c1", "hello")
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}))
	if _, err := os.Stat(filepath.Join(dir, "agent.db-wal")); err != nil {
		t.Errorf("no write-ahead log: %v", err)
	}
}

func Test_A_Store_Persists_When_It_Is_Opened_Again(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 3 {
		s, err := store.Open(t.Context(), dir, store.Options{Existing: i > 0})
		must(t, err)
		say(t, s, "ann", "c1", "hello")
		chats, err := s.Chats(t.Context(), store.Filter{})
		must(t, err)
		if len(chats) != 1 || chats[0].Messages != int64(2*(i+1)) {
			t.Errorf("round %d: %+v", i, chats)
		}
		must(t, s.Close())
	}
}

func Test_Open_Refuses_And_Does_Not_Change_A_Bad_Store(t *testing.T) {
	t.Parallel()
	write := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	statements := func(all ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			db, err := sql.Open("sqlite", filepath.Join(dir, "agent.db"))
			must(t, err)
			for _, s := range all {
				exec(t, db, s)
			}
			must(t, db.Close())
		}
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string)
		code sandbox.Code
		text string
	}{
		{"a text", write("agent.db", strings.Repeat("this is no database\n", 100)), sandbox.Invalid, "agent.db is not a database hint: move it away"},
		{"another program's database", statements("CREATE TABLE a (b)"), sandbox.Invalid, "of another program"},
		{"another program's mark", statements("PRAGMA application_id = 7", "PRAGMA user_version = 1"), sandbox.Invalid, "of another program"},
		{"a newer schema", statements("PRAGMA application_id = 0x41675362", "PRAGMA user_version = 99"), sandbox.Unsupported, "its schema is 99"},
		{"a schema below zero", statements("PRAGMA application_id = 0x41675362", "PRAGMA user_version = -3"), sandbox.Invalid, "of another program"},
		{"a damaged one", damaged, sandbox.Unavailable, "is damaged"},
		{"a directory", directory, sandbox.Internal, "is a directory"},
		{"locks are a file", write("locks", ""), sandbox.Exists, "locks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c.make(t, dir)
			before, _ := os.ReadFile(filepath.Join(dir, "agent.db"))
			s, err := store.Open(t.Context(), dir, store.Options{})
			if err == nil {
				_, err = s.Chats(t.Context(), store.Filter{})
				must(t, s.Close())
			}
			wants(t, err, c.code, c.text)
			if after, _ := os.ReadFile(filepath.Join(dir, "agent.db")); string(after) != string(before) && c.name != "locks are a file" {
				t.Error("the file was changed")
			}
		})
	}
}

func directory(t *testing.T, dir string) {
	t.Helper()
	must(t, os.Mkdir(filepath.Join(dir, "agent.db"), 0o700))
}

// damaged makes a store whose pages are random bytes.
func damaged(t *testing.T, dir string) {
	t.Helper()
	s, err := store.Open(t.Context(), dir, store.Options{})
	must(t, err)
	for range 20 {
		say(t, s, "ann", "c1", strings.Repeat("hello ", 500))
	}
	must(t, s.Close())
	f, err := os.OpenFile(filepath.Join(dir, "agent.db"), os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt([]byte(strings.Repeat("\xff", 16*4096)), 4096)
	must(t, errors.Join(err, f.Close()))
}

func Test_Invalid_Options_Are_Refused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, dir string
		opts      store.Options
		code      sandbox.Code
		text      string
	}{
		{"a relative directory", "state", store.Options{}, sandbox.Invalid, "not an absolute path"},
		{"no schedule", t.TempDir(), store.Options{Schedule: "daily at three"}, sandbox.Invalid, "hint: write minute, hour"},
		{"a missing store that has to be there", filepath.Join(t.TempDir(), "x"), store.Options{Existing: true}, sandbox.NotFound, "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := store.Open(t.Context(), c.dir, c.opts)
			wants(t, err, c.code, c.text)
			if _, err := os.Stat(filepath.Join(c.dir, "agent.db")); err == nil {
				t.Error("a store was made")
			}
		})
	}
}

func Test_A_Canceled_Context_Ends_Waiting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, store.Options{})
	tx, err := raw(t, dir).Conn(t.Context())
	must(t, err)
	_, err = tx.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = s.Audit(ctx, store.Record{User: "ann", Action: "run", Decision: "allowed"})
	if code := sandbox.CodeOf(err); code != sandbox.Timeout && code != sandbox.Canceled {
		t.Errorf("got %v (%s)", err, code)
	}
	_, err = tx.ExecContext(t.Context(), "ROLLBACK")
	must(t, errors.Join(err, tx.Close()))
}
