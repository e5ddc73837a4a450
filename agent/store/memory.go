package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The bounds of what hooks remember.
const (
	maxKey     = 256       // bytes
	maxValue   = 256 << 10 // bytes of JSON
	maxKeys    = 1000      // of a scope
	maxScoped  = 4 << 20   // bytes of all values of a scope
	maxExpires = 10 * 365 * 24 * time.Hour
)

// Scope says who remembers together.
type Scope struct{ name string }

// ChatScope is one chat of a user. It is forgotten with the chat.
func ChatScope(user, chat string) Scope { return scopeOf("chat", user, chat) }

// UserScope is a user, in all chats.
func UserScope(user string) Scope { return scopeOf("user", user) }

// AssistantScope is an assistant, with all users.
func AssistantScope(assistant string) Scope { return scopeOf("assistant", assistant) }

// TeamScope is a team of users.
func TeamScope(team string) Scope { return scopeOf("team", team) }

func scopeOf(parts ...string) Scope {
	raw, _ := json.Marshal(parts) // strings always can be
	return Scope{string(raw)}
}

// Memory is what hooks remember in one scope: JSON values by key. It is safe for concurrent use.
type Memory struct {
	store *Store
	scope Scope
}

// Memory is the memory of a scope.
func (s *Store) Memory(scope Scope) Memory { return Memory{s, scope} }

// Load is the value of a key; nil: there is none, or it has expired.
func (m Memory) Load(ctx context.Context, key string) (json.RawMessage, error) {
	const query = "SELECT value FROM memory WHERE scope = ? AND key = ? AND (expires = 0 OR expires > ?)"
	var value string
	err := m.store.db.QueryRowContext(ctx, query, m.scope.name, key, millis(m.store.now())).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, m.store.failed(err)
	}
	return json.RawMessage(value), nil
}

// Save sets the value of a key, until it expires; 0: for ever. What is too large is Exhausted.
func (m Memory) Save(ctx context.Context, key string, value json.RawMessage, expires time.Duration) error {
	switch {
	case key == "" || len(key) > maxKey:
		return sandbox.Errorf(sandbox.Invalid, "memory: key %s: expected 1 to %d bytes", brief(key), maxKey)
	case len(value) > maxValue:
		return sandbox.Errorf(sandbox.Exhausted, "memory: key %s: a value of %d bytes; at most %d are kept", brief(key), len(value), maxValue)
	case !json.Valid(value):
		return sandbox.Errorf(sandbox.Invalid, "memory: key %s: the value is no JSON", brief(key))
	}
	now, until := m.store.now(), int64(0)
	if expires > 0 {
		until = millis(now.Add(min(expires, maxExpires)))
	}
	return m.store.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM memory WHERE scope = ? AND expires != 0 AND expires <= ?", m.scope.name, millis(now)); err != nil {
			return err
		}
		const put = "INSERT INTO memory VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, expires = excluded.expires"
		if _, err := tx.ExecContext(ctx, put, m.scope.name, key, string(value), until); err != nil {
			return err
		}
		var keys, size int64
		const sum = "SELECT count(*), sum(length(CAST(value AS BLOB))) FROM memory WHERE scope = ?"
		if err := tx.QueryRowContext(ctx, sum, m.scope.name).Scan(&keys, &size); err != nil {
			return err
		}
		if keys > maxKeys || size > maxScoped {
			return sandbox.Errorf(sandbox.Exhausted, "memory: %d keys with %d bytes; at most %d with %d are kept", keys, size, maxKeys, maxScoped).
				WithHint("delete what is not needed any more")
		}
		return nil
	})
}

// Delete forgets a key; one that is not there is no error.
func (m Memory) Delete(ctx context.Context, key string) error {
	_, err := m.store.db.ExecContext(ctx, "DELETE FROM memory WHERE scope = ? AND key = ?", m.scope.name, key)
	return m.store.failed(err)
}

// Keys are those that have a value, sorted.
func (m Memory) Keys(ctx context.Context) ([]string, error) {
	const query = "SELECT key FROM memory WHERE scope = ? AND (expires = 0 OR expires > ?) ORDER BY key"
	var out []string
	err := m.store.each(ctx, func(rows *sql.Rows) error {
		var key string
		err := rows.Scan(&key)
		out = append(out, key)
		return err
	}, query, m.scope.name, millis(m.store.now()))
	return out, err
}
