package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// application marks a database as ours (sqlite.org/pragma.html#pragma_application_id): "AgSb".
const application = 0x41675362

// migrations[n] migrates a database from version n to n+1. Never change a released one.
var migrations = []string{schema}

// schema is version 1. Times are milliseconds since 1970; an unknown cost is NULL.
const schema = `
CREATE TABLE chats (
	id INTEGER PRIMARY KEY, user TEXT NOT NULL, chat TEXT NOT NULL, assistant TEXT NOT NULL, title TEXT NOT NULL,
	session TEXT NOT NULL, executor TEXT NOT NULL, created INTEGER NOT NULL, used INTEGER NOT NULL, UNIQUE (user, chat)
) STRICT;
CREATE INDEX chats_used ON chats (used);
CREATE TABLE messages (
	id INTEGER PRIMARY KEY, chat INTEGER NOT NULL REFERENCES chats (id) ON DELETE CASCADE, run TEXT NOT NULL,
	at INTEGER NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX messages_chat ON messages (chat, id);
CREATE TABLE blobs (hash TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE attached (
	message INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE, hash TEXT NOT NULL REFERENCES blobs (hash),
	PRIMARY KEY (message, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX attached_hash ON attached (hash);
CREATE TRIGGER attached_last AFTER DELETE ON attached WHEN NOT EXISTS (SELECT 1 FROM attached WHERE hash = OLD.hash)
	BEGIN DELETE FROM blobs WHERE hash = OLD.hash; END;
CREATE TABLE runs (
	id TEXT PRIMARY KEY, user TEXT NOT NULL, assistant TEXT NOT NULL, chat TEXT NOT NULL, connector TEXT NOT NULL,
	executor TEXT NOT NULL, outcome TEXT, started INTEGER NOT NULL, duration INTEGER NOT NULL DEFAULT 0,
	turns INTEGER NOT NULL DEFAULT 0, tools INTEGER NOT NULL DEFAULT 0, denials INTEGER NOT NULL DEFAULT 0,
	input INTEGER NOT NULL DEFAULT 0, output INTEGER NOT NULL DEFAULT 0, cache_read INTEGER NOT NULL DEFAULT 0,
	cache_write INTEGER NOT NULL DEFAULT 0, reasoning INTEGER NOT NULL DEFAULT 0, cost REAL,
	estimated INTEGER NOT NULL DEFAULT 0, reserved_tokens INTEGER NOT NULL, reserved_usd REAL NOT NULL
) STRICT;
CREATE INDEX runs_user ON runs (user, started);
CREATE INDEX runs_started ON runs (started);
CREATE INDEX runs_open ON runs (user) WHERE outcome IS NULL;
CREATE TABLE run_models (
	run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, model TEXT NOT NULL, input INTEGER NOT NULL,
	output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, reasoning INTEGER NOT NULL,
	cost REAL, PRIMARY KEY (run, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE audit (
	seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL,
	decision TEXT NOT NULL, hash TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_stays BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit records are never removed'); END;
CREATE TRIGGER audit_holds BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit records are never changed'); END;
CREATE TABLE memory (
	scope TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, expires INTEGER NOT NULL, PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE workspaces (
	user TEXT NOT NULL, chat TEXT NOT NULL, created INTEGER NOT NULL, used INTEGER NOT NULL, PRIMARY KEY (user, chat)
) STRICT, WITHOUT ROWID;
CREATE TABLE orphans (dir TEXT PRIMARY KEY, seen INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE sweeps (id INTEGER PRIMARY KEY CHECK (id = 1), last INTEGER NOT NULL) STRICT;
`

// migrate checks the version, and changes only a database that is older than this program.
func (s *Store) migrate(ctx context.Context) error {
	version, err := s.version(ctx)
	if err != nil || version == len(migrations) {
		return err
	}
	// Switching to a write-ahead log takes a lock for which SQLite does not wait.
	held, err := s.lock(ctx, "schema", exclusive, true)
	if err != nil {
		return err
	}
	defer held.release(true)
	if _, err := s.db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return s.failed(err)
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		for ; version < len(migrations); version++ {
			if _, err := tx.ExecContext(ctx, migrations[version]); err != nil {
				return fmt.Errorf("schema %d: %w", version+1, err)
			}
		}
		mark := fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", version, application)
		if _, err := tx.ExecContext(ctx, mark); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO sweeps VALUES (1, ?)", millis(s.now()))
		return err
	})
}

// version returns the version of the database; an empty one has 0.
func (s *Store) version(ctx context.Context) (int, error) {
	var version, app, tables int64
	const look = `SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id),
		(SELECT count(*) FROM sqlite_schema)`
	if err := s.db.QueryRowContext(ctx, look).Scan(&version, &app, &tables); err != nil {
		return 0, s.failed(err)
	}
	switch {
	case app == 0 && version == 0 && tables == 0:
		return 0, nil
	case app != application || version <= 0:
		return 0, sandbox.Errorf(sandbox.Invalid, "%s is a database of another program", s.at(database)).
			WithHint("move it away, and a new one is made")
	case version > int64(len(migrations)):
		return 0, sandbox.Errorf(sandbox.Unsupported, "%s was written by a newer agent-sandbox: its schema is %d, and this one knows %d",
			s.at(database), version, len(migrations)).WithHint("install the newer one here, too")
	}
	return int(version), nil
}
