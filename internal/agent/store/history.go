package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	maxTurn     = 64 << 20 // bytes of a turn
	maxMessages = 1000     // of a turn
)

// Entry is a message of a chat.
type Entry struct {
	Message message.Message `json:"message"`
	At      time.Time       `json:"at"`
	Run     string          `json:"run,omitempty"` // the run that added it
}

// body is a message in the database: the data of its files is stored once, under its hash.
type body struct {
	json string
	data map[string][]byte
}

// part is a part without its data.
type part struct {
	message.Part
	Hash string `json:"sha256,omitempty"` // of the data; "": no data
}

// stored is a message without the data of its parts.
type stored struct {
	Role  message.Role `json:"role"`
	Parts []part       `json:"parts"`
}

func bodiesOf(messages []message.Message) ([]body, error) {
	if len(messages) > maxMessages {
		return nil, sandbox.Errorf(sandbox.Invalid, "a turn has %d messages; at most %d are supported", len(messages), maxMessages)
	}
	size := 0
	out := make([]body, 0, len(messages))
	for _, m := range messages {
		if m.Role != message.User && m.Role != message.Assistant {
			return nil, sandbox.Errorf(sandbox.Invalid, "a message of role %s is not part of a chat", quoteBriefly(string(m.Role)))
		}
		s, b := stored{Role: m.Role}, body{data: map[string][]byte{}}
		for _, p := range m.Parts {
			stored := part{Part: p}
			stored.Data = nil
			if len(p.Data) > 0 {
				sum := sha256.Sum256(p.Data)
				stored.Hash = hex.EncodeToString(sum[:])
				b.data[stored.Hash] = p.Data
			}
			size += len(p.Data) + len(p.Text)
			s.Parts = append(s.Parts, stored)
		}
		if size > maxTurn {
			return nil, sandbox.Errorf(sandbox.Exhausted, "a turn is larger than %d MiB", maxTurn>>20).WithHint("attach smaller files")
		}
		raw, err := json.Marshal(s)
		if err != nil {
			return nil, sandbox.Errorf(sandbox.Invalid, "message: %w", err)
		}
		b.json = string(raw)
		out = append(out, b)
	}
	return out, nil
}

// History returns the messages of a chat in order, or none if the chat is missing.
func (s *Store) History(ctx context.Context, user, id string) ([]Entry, error) {
	const query = `SELECT messages.id, messages.run, messages.at, messages.body FROM messages
		JOIN chats ON chats.id = messages.chat WHERE chats.user = ? AND chats.chat = ? ORDER BY messages.id`
	if err := checkOwner(user, id); err != nil {
		return nil, err
	}
	blobs, err := s.blobs(ctx, user, id)
	if err != nil {
		return nil, err
	}
	var out []Entry
	err = s.each(ctx, func(rows *sql.Rows) error {
		var e Entry
		var n, at int64
		var raw []byte
		if err := rows.Scan(&n, &e.Run, &at, &raw); err != nil {
			return err
		}
		var m stored
		if err := json.Unmarshal(raw, &m); err != nil {
			return sandbox.Errorf(sandbox.Internal, "%s: message %d: %w", s.at(database), n, err)
		}
		e.At, e.Message.Role = s.time(at), m.Role
		for _, p := range m.Parts {
			p.Data = blobs[p.Hash]
			e.Message.Parts = append(e.Message.Parts, p.Part)
		}
		out = append(out, e)
		return nil
	}, query, user, id)
	return out, err
}

// blobs returns the data of a chat's files by hash.
func (s *Store) blobs(ctx context.Context, user, id string) (map[string][]byte, error) {
	const query = `SELECT hash, data FROM blobs WHERE hash IN (SELECT hash FROM attached JOIN messages ON messages.id = message
		JOIN chats ON chats.id = messages.chat WHERE chats.user = ? AND chats.chat = ?)`
	out := map[string][]byte{}
	err := s.each(ctx, func(rows *sql.Rows) error {
		var hash string
		var data []byte
		err := rows.Scan(&hash, &data)
		out[hash] = data
		return err
	}, query, user, id)
	return out, err
}
