package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Chat is a conversation of a user with an assistant. IDs belong to a user: two users may have the same one.
type Chat struct {
	User      string    `json:"user"`
	ID        string    `json:"id"`
	Assistant string    `json:"assistant"`
	Title     string    `json:"title"`              // the beginning of the first message
	Session   string    `json:"session,omitempty"`  // with which its executor resumes it; "": unknown
	Executor  string    `json:"executor,omitempty"` // the executor of that session
	Created   time.Time `json:"created"`            // zero: the chat has no message and is not in the store
	Used      time.Time `json:"used"`               // the last turn
	Messages  int64     `json:"messages"`
}

// Filter selects chats by those of its fields that are set.
type Filter struct{ User, Assistant, ID string }

// Chats returns chats, most recently used first.
func (s *Store) Chats(ctx context.Context, f Filter) ([]Chat, error) {
	query := `SELECT user, chat, assistant, title, session, executor, created, used,
		(SELECT count(*) FROM messages WHERE messages.chat = chats.id) FROM chats WHERE true`
	var args []any
	for _, c := range []struct{ column, value string }{{"user", f.User}, {"assistant", f.Assistant}, {"chat", f.ID}} {
		if c.value != "" { // a condition that is always there would keep the index from being used
			query, args = query+" AND "+c.column+" = ?", append(args, c.value)
		}
	}
	var out []Chat
	err := s.each(ctx, func(rows *sql.Rows) error {
		var c Chat
		var created, used int64
		err := rows.Scan(&c.User, &c.ID, &c.Assistant, &c.Title, &c.Session, &c.Executor, &created, &used, &c.Messages)
		c.Created, c.Used = s.time(created), s.time(used)
		out = append(out, c)
		return err
	}, query+" ORDER BY used DESC, user, chat", args...)
	return out, err
}

// Chat returns one chat; NotFound: it has no messages.
func (s *Store) Chat(ctx context.Context, user, id string) (Chat, error) {
	if err := checkOwner(user, id); err != nil {
		return Chat{}, err
	}
	found, err := s.Chats(ctx, Filter{User: user, ID: id})
	if err == nil && len(found) == 0 {
		err = sandbox.Errorf(sandbox.NotFound, "user %s has no chat %s", quoteBriefly(user), id).WithHint("list them with 'agent chats'")
	}
	if err != nil {
		return Chat{}, err
	}
	return found[0], nil
}

// RemoveChat removes a chat with its messages, the memory of its hooks and its workspace. The usage of its runs stays booked.
// Exists: the chat or its workspace is in use, and nothing was removed.
func (s *Store) RemoveChat(ctx context.Context, user, id string) error {
	return s.removeChat(ctx, user, id, time.Time{})
}

// removeChat implements RemoveChat; if before is not zero, it returns errRecent for a chat that was used since.
func (s *Store) removeChat(ctx context.Context, user, id string, before time.Time) error {
	if _, err := s.Chat(ctx, user, id); err != nil {
		return err
	}
	h, err := s.hold(ctx, user, id, false)
	if err != nil {
		return err
	}
	defer h.release(true)
	c, err := s.Chat(ctx, user, id) // read again under the lock
	if err != nil {
		return err
	}
	if !before.IsZero() && !c.Used.Before(before) {
		return errRecent
	}
	if err := s.discard(ctx, user, id); err != nil {
		return err
	}
	return s.forget(ctx, user, id)
}

// forget deletes a chat from the database.
func (s *Store) forget(ctx context.Context, user, id string) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM memory WHERE scope = ?", ChatScope(user, id).name); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM chats WHERE user = ? AND chat = ?", user, id)
		return err
	})
}

// hold takes the lock of a chat.
func (s *Store) hold(ctx context.Context, user, id string, wait bool) (*held, error) {
	h, err := s.lock(ctx, lockName("chat", user, id), exclusive, wait)
	if errors.Is(err, errHeld) {
		return nil, sandbox.Errorf(sandbox.Exists, "chat %s is busy with another request", id).
			WithHint("wait until that is answered, or use another chat")
	}
	return h, err
}

// title returns the title of a chat: the beginning of its user's first message.
func title(messages []message.Message) string {
	const most = 80
	for _, m := range messages {
		if m.Role != message.User {
			continue
		}
		text := m.Text()
		text = strings.Map(func(r rune) rune {
			if r == utf8.RuneError || !unicode.IsPrint(r) {
				return ' '
			}
			return r
		}, text[:min(len(text), 16*most)])
		if r := []rune(strings.Join(strings.Fields(text), " ")); len(r) > most {
			return string(r[:most-3]) + "..."
		} else if len(r) > 0 {
			return string(r)
		}
	}
	return ""
}

// each calls row for the rows of a query.
func (s *Store) each(ctx context.Context, row func(*sql.Rows) error, query string, args ...any) error {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return s.failed(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return s.failed(err)
		}
	}
	return s.failed(rows.Err())
}
