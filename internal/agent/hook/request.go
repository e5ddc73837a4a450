package hook

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
)

// Request is one request to an assistant, as its hooks see it: the same one for Create and then for Next. It must not be
// copied after the first of them, and they do not run at once. Nothing of one Request is there in another.
type Request struct {
	Chat      string                     // ctx.chat_id
	Assistant string                     // ctx.assistant_id
	User      string                     // ctx.authorized.user_id
	Team      string                     // ctx.authorized.team_id; "": none
	Locale    string                     // ctx.locale; "": not known
	Metadata  map[string]json.RawMessage // ctx.metadata
	Options   json.RawMessage            // a hook's last argument; nil: {}

	Sandbox Sandbox // ctx.sandbox; nil: null
	// Send gets what a hook shows to the user, in order; its error is thrown in the hook. nil: it is thrown away.
	Send func(context.Context, Message) error
	Log  func(Entry) // gets what a hook logs, in order; nil: it is thrown away

	// What ctx.memory keeps for longer than the request. A hook that uses one that is nil gets an error.
	ChatStore, UserStore, TeamStore Store

	state state
}

// state is what Create leaves for Next.
type state struct {
	mu     sync.Mutex
	memory map[string]json.RawMessage // ctx.memory.context
	lastID int
	open   map[string]bool // messages that were not ended
}

// Op is what a Message does.
type Op = protocol.Op

// The operations. Those but Send and Start are about a message that Start began.
const (
	Send    = protocol.Send
	Start   = protocol.Start
	Replace = protocol.Replace
	Append  = protocol.Append
	End     = protocol.End
)

// Level is the importance of a line of the log.
type Level = protocol.Level

// The levels.
const (
	Trace = protocol.Trace
	Debug = protocol.Debug
	Info  = protocol.Info
	Warn  = protocol.Warn
	Error = protocol.Error
)

// Message is what a hook shows to the user. A hook wrote it: escape it before a terminal sees it.
type Message struct {
	ID    string          `json:"id"` // unlike that of any other message of the Request, but for the operations on it
	Op    Op              `json:"op"`
	Type  string          `json:"type,omitempty"`  // such as "text" and "loading"; "" only with End
	Props json.RawMessage `json:"props,omitempty"` // an object, at most 1 MiB; a text's has "content"
}

// Entry is a line of a hook's log. A hook wrote it: escape it before a terminal sees it.
type Entry struct {
	Level Level  `json:"level"`
	Text  string `json:"text"` // at most 8 KiB; may have line breaks
}

// Store keeps values for longer than a request. Keys are not empty and at most 256 bytes, values are JSON of at most
// 1 MiB. Implementations are safe for concurrent use, and bound how much they keep with an error of Save.
type Store interface {
	// Load is the value of a key; nil: there is none.
	Load(ctx context.Context, key string) (json.RawMessage, error)
	// Save sets it.
	Save(ctx context.Context, key string, value json.RawMessage) error
	// LoadOrSave is the value of a key, which is set first where there is none. Of those who do it at once one sets it,
	// and all get the same.
	LoadOrSave(ctx context.Context, key string, value json.RawMessage) (json.RawMessage, error)
	// Delete removes it, whether or not it is there.
	Delete(ctx context.Context, key string) error
	// Keys lists the keys, sorted.
	Keys(ctx context.Context) ([]string, error)
}

// memory is the store of a request.
type memory struct{ s *state }

func (m memory) Load(_ context.Context, key string) (json.RawMessage, error) {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	return m.s.memory[key], nil
}

func (m memory) Save(_ context.Context, key string, value json.RawMessage) error {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	return m.s.save(key, value)
}

func (m memory) LoadOrSave(_ context.Context, key string, value json.RawMessage) (json.RawMessage, error) {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	if there, ok := m.s.memory[key]; ok {
		return there, nil
	}
	return value, m.s.save(key, value)
}

// save sets a value; the caller has the lock.
func (s *state) save(key string, value json.RawMessage) error {
	if _, ok := s.memory[key]; !ok && len(s.memory) >= protocol.MaxKeys {
		return protocol.Refuse("ctx.memory.context has %d keys already", protocol.MaxKeys)
	}
	if s.memory == nil {
		s.memory = map[string]json.RawMessage{}
	}
	s.memory[key] = value
	return nil
}

func (m memory) Delete(_ context.Context, key string) error {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	delete(m.s.memory, key)
	return nil
}

func (m memory) Keys(context.Context) ([]string, error) {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	return sortedKeys(m.s.memory), nil
}
