package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Bounds of the memory of hooks.
const (
	maxKey     = 256       // bytes
	maxValue   = 256 << 10 // bytes of JSON
	maxKeys    = 1000      // of a scope
	maxScoped  = 4 << 20   // bytes of all values of a scope
	maxExpires = 10 * 365 * 24 * time.Hour
)

// Scope is a set of keys with its owner.
type Scope struct{ name string }

// ChatScope returns the scope of a user's chat. It is removed with the chat.
func ChatScope(user, chat string) Scope { return scopeOf("chat", user, chat) }

// UserScope returns the scope of a user, in all chats.
func UserScope(user string) Scope { return scopeOf("user", user) }

// AssistantScope returns the scope of an assistant, for all users.
func AssistantScope(assistant string) Scope { return scopeOf("assistant", assistant) }

// TeamScope returns the scope of a team of users.
func TeamScope(team string) Scope { return scopeOf("team", team) }

func scopeOf(parts ...string) Scope {
	raw, _ := json.Marshal(parts) // strings always marshal
	return Scope{string(raw)}
}

// Memory holds JSON values by key that hooks save in one scope. It is safe for concurrent use.
type Memory struct {
	store *Store
	scope Scope
}

// Memory returns the memory of a scope.
func (s *Store) Memory(scope Scope) Memory { return Memory{s, scope} }

// querier is the database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Load returns the value of a key; nil: it is not set or has expired.
func (m Memory) Load(ctx context.Context, key string) (json.RawMessage, error) {
	value, err := m.value(ctx, m.store.db, key)
	return value, m.store.failed(err)
}

func (m Memory) value(ctx context.Context, from querier, key string) (json.RawMessage, error) {
	const query = "SELECT value FROM memory WHERE scope = ? AND key = ? AND (expires = 0 OR expires > ?)"
	var value string
	err := from.QueryRowContext(ctx, query, m.scope.name, key, millis(m.store.now())).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return json.RawMessage(value), nil
}

// Save sets the value of a key until it expires; 0: for ever. Exhausted: it exceeds a bound.
func (m Memory) Save(ctx context.Context, key string, value json.RawMessage, expires time.Duration) error {
	if err := checkEntry(key, value); err != nil {
		return err
	}
	return m.store.write(ctx, func(tx *sql.Tx) error { return m.put(ctx, tx, key, value, expires) })
}

// LoadOrSave returns the value of a key, or saves value if there is none, as Save does. Of concurrent callers in
// any process one saves, and all get the same value.
func (m Memory) LoadOrSave(ctx context.Context, key string, value json.RawMessage, expires time.Duration) (json.RawMessage, error) {
	if err := checkEntry(key, value); err != nil {
		return nil, err
	}
	result := value
	err := m.store.write(ctx, func(tx *sql.Tx) error {
		there, err := m.value(ctx, tx, key)
		if err != nil || there != nil {
			result = there
			return err
		}
		return m.put(ctx, tx, key, value, expires)
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// checkEntry validates a key and a value.
func checkEntry(key string, value json.RawMessage) error {
	switch {
	case key == "" || len(key) > maxKey:
		return sandbox.Errorf(sandbox.Invalid, "memory: key %s: expected 1 to %d bytes", quoteBriefly(key), maxKey)
	case len(value) > maxValue:
		return sandbox.Errorf(sandbox.Exhausted, "memory: key %s: a value of %d bytes; at most %d are allowed", quoteBriefly(key), len(value), maxValue)
	case !json.Valid(value):
		return sandbox.Errorf(sandbox.Invalid, "memory: key %s: the value is not JSON", quoteBriefly(key))
	}
	return nil
}

// put saves a value within a transaction, and fails when the scope would exceed a bound.
func (m Memory) put(ctx context.Context, tx *sql.Tx, key string, value json.RawMessage, expires time.Duration) error {
	now, until := m.store.now(), int64(0)
	if expires > 0 {
		until = millis(now.Add(min(expires, maxExpires)))
	}
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
		return sandbox.Errorf(sandbox.Exhausted, "memory: %d keys with %d bytes; at most %d with %d are allowed", keys, size, maxKeys, maxScoped).
			WithHint("delete keys that are not needed")
	}
	return nil
}

// Delete removes a key; a missing key is not an error.
func (m Memory) Delete(ctx context.Context, key string) error {
	_, err := m.store.db.ExecContext(ctx, "DELETE FROM memory WHERE scope = ? AND key = ?", m.scope.name, key)
	return m.store.failed(err)
}

// Keys returns the keys that have a value, sorted.
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
