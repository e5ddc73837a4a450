package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Request describes the chat to open.
type Request struct {
	User      string
	Chat      string // a missing one is created; "": a new one
	Assistant string // must be that of the chat once it has messages
	Wait      bool   // wait for another request on this chat to end, or for the context; false: fail with Exists
}

// Conversation gives one request exclusive use of a chat, across processes, until it is closed or its process
// dies. It is safe for concurrent use.
type Conversation struct {
	store *Store
	mu    sync.Mutex
	chat  Chat  // guarded by mu
	held  *held // guarded by mu; nil: closed
}

// Turn is the part of a chat that one request adds.
type Turn struct {
	Messages []message.Message // in order, without system messages
	Run      string            // the run of the turn; "": no booked run
	Session  string            // the new session with which Executor resumes the chat; "": unchanged
	Executor string
}

// Converse opens a chat for a request. Exists: another request uses it. Invalid: the chat belongs to another
// assistant. The caller closes the conversation.
func (s *Store) Converse(ctx context.Context, r Request) (*Conversation, error) {
	if r.Chat == "" {
		r.Chat = NewID(s.now())
	}
	if err := checkOwner(r.User, r.Chat); err != nil {
		return nil, err
	}
	if err := checkName("assistant", r.Assistant); err != nil {
		return nil, err
	}
	h, err := s.hold(ctx, r.User, r.Chat, r.Wait)
	if err != nil {
		return nil, err
	}
	chat, err := s.Chat(ctx, r.User, r.Chat)
	switch {
	case errors.Is(err, sandbox.ErrNotFound):
		chat, err = Chat{User: r.User, ID: r.Chat, Assistant: r.Assistant}, nil
	case err == nil && chat.Assistant != r.Assistant:
		err = sandbox.Errorf(sandbox.Invalid, "chat %s is with assistant %s, not with %s", r.Chat, quoteBriefly(chat.Assistant), quoteBriefly(r.Assistant)).
			WithHint("begin another chat")
	}
	if err != nil {
		h.release(true)
		return nil, err
	}
	return &Conversation{store: s, chat: chat, held: h}, nil
}

// Chat returns the current state of the chat.
func (c *Conversation) Chat() Chat {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chat
}

// Messages returns the chat's messages so far.
func (c *Conversation) Messages(ctx context.Context) ([]message.Message, error) {
	chat := c.Chat()
	entries, err := c.store.History(ctx, chat.User, chat.ID)
	out := make([]message.Message, 0, len(entries))
	for _, e := range entries {
		out = append(out, e.Message)
	}
	return out, err
}

// Append adds a turn atomically. The first turn creates the chat in the store.
func (c *Conversation) Append(ctx context.Context, t Turn) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		return sandbox.Errorf(sandbox.Closed, "chat %s: the conversation is closed", c.chat.ID)
	}
	bodies, err := bodiesOf(t.Messages)
	if err != nil {
		return err
	}
	next := c.chat
	next.Used = c.store.time(millis(c.store.now()))
	if next.Created.IsZero() {
		next.Created = next.Used
	}
	if next.Title == "" {
		next.Title = title(t.Messages)
	}
	if t.Session != "" {
		next.Session, next.Executor = t.Session, t.Executor
	}
	if len(next.Session) > maxSession || len(next.Executor) > maxName || len(t.Run) > maxID {
		return sandbox.Errorf(sandbox.Invalid, "chat %s: the session's id has over %d bytes, or the names of its executor and run have",
			next.ID, maxSession)
	}
	next.Messages += int64(len(bodies))
	if err := c.store.write(ctx, func(tx *sql.Tx) error { return insertTurn(ctx, tx, next, t.Run, bodies) }); err != nil {
		return err
	}
	c.chat = next
	return nil
}

// maxSession limits the length of an executor's session ID.
const maxSession = 1 << 10

// insertTurn writes the chat's new state and the turn's messages.
func insertTurn(ctx context.Context, tx *sql.Tx, c Chat, run string, bodies []body) error {
	const put = `INSERT INTO chats (user, chat, assistant, title, session, executor, created, used) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET title = excluded.title, session = excluded.session, executor = excluded.executor,
		used = excluded.used RETURNING id`
	var id int64
	err := tx.QueryRowContext(ctx, put, c.User, c.ID, c.Assistant, c.Title, c.Session, c.Executor, millis(c.Created), millis(c.Used)).Scan(&id)
	if err != nil {
		return err
	}
	for _, b := range bodies {
		var m int64
		const add = "INSERT INTO messages (chat, run, at, body) VALUES (?, ?, ?, ?) RETURNING id"
		if err := tx.QueryRowContext(ctx, add, id, run, millis(c.Used), b.json).Scan(&m); err != nil {
			return err
		}
		for hash, data := range b.data {
			if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO blobs VALUES (?, ?)", hash, data); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO attached VALUES (?, ?)", m, hash); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close releases the chat for the next request. Further calls do nothing.
func (c *Conversation) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != nil {
		c.held.release(true)
		c.held = nil
	}
	return nil
}
