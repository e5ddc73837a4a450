package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Record is an audit record of a decision. It has no field for messages; never put a key into it.
type Record struct {
	Seq      int64     `json:"seq"` // from 1, without a gap; set by the store
	At       time.Time `json:"at"`  // set by the store
	User     string    `json:"user"`
	Action   string    `json:"action"`            // such as "run", "remove chat"
	Subject  string    `json:"subject,omitempty"` // the ID of the object
	Decision string    `json:"decision"`          // such as "allowed", "refused: exhausted"
	Hash     string    `json:"hash"`              // of this record and all before it; set by the store
}

// seal returns the hash of a record that follows the hash before. Changing a record, or removing one from the middle,
// breaks the chain; only a reader who knows the last hash notices missing last records.
func (r Record) seal(before string) string {
	raw, _ := json.Marshal([]any{before, r.Seq, millis(r.At), r.User, r.Action, r.Subject, r.Decision}) // texts and numbers always marshal
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Audit adds a record; its texts are at most 256 bytes of UTF-8 each. The store never changes or removes it.
func (s *Store) Audit(ctx context.Context, r Record) (Record, error) {
	for _, f := range []struct{ what, text string }{{"user", r.User}, {"action", r.Action}, {"decision", r.Decision}, {"subject", r.Subject + "."}} {
		if err := checkName("audit: "+f.what, f.text); err != nil {
			return r, err
		}
	}
	err := s.write(ctx, func(tx *sql.Tx) error {
		var last int64
		var before string
		err := tx.QueryRowContext(ctx, "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1").Scan(&last, &before)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		r.Seq, r.At = last+1, s.time(millis(s.now()))
		r.Hash = r.seal(before)
		_, err = tx.ExecContext(ctx, "INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?)", r.Seq, millis(r.At), r.User, r.Action, r.Subject, r.Decision, r.Hash)
		return err
	})
	return r, err
}

// Records calls record for the audit's records in order, from seq on, until record returns an error. It returns an error
// at, or just before, the place where the chain of hashes is broken.
func (s *Store) Records(ctx context.Context, seq int64, record func(Record) error) error {
	before, next := "", max(1, seq)
	if next > 1 {
		err := s.db.QueryRowContext(ctx, "SELECT hash FROM audit WHERE seq = ?", next-1).Scan(&before)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // no record has such a high number
		}
		if err != nil {
			return s.failed(err)
		}
	}
	return s.each(ctx, func(rows *sql.Rows) error {
		var r Record
		var at int64
		if err := rows.Scan(&r.Seq, &at, &r.User, &r.Action, &r.Subject, &r.Decision, &r.Hash); err != nil {
			return err
		}
		r.At = s.time(at)
		if r.Seq != next || r.Hash != r.seal(before) {
			return sandbox.Errorf(sandbox.Denied, "%s: the audit was changed at record %d", s.at(database), next).
				WithHint("restore the database from a copy; what comes before is as it was")
		}
		before, next = r.Hash, next+1
		return record(r)
	}, "SELECT seq, at, user, action, subject, decision, hash FROM audit WHERE seq >= ? ORDER BY seq", next)
}
