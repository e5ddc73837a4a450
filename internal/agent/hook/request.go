package hook

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
)

// Request is one request to an assistant, as its hooks see it: the same one for Create and then for Next. It must not be
// copied after the first call, and its hooks do not run at once. Requests share no state.
type Request struct {
	Chat      string                     // ctx.chat_id
	Assistant string                     // ctx.assistant_id
	User      string                     // ctx.authorized.user_id
	Team      string                     // ctx.authorized.team_id; "": none
	Locale    string                     // ctx.locale; "": unknown
	Metadata  map[string]json.RawMessage // ctx.metadata
	Options   json.RawMessage            // a hook's last argument; nil: {}

	Sandbox Sandbox // ctx.sandbox; nil: null
	// Send receives what a hook shows to the user, in order; its error is thrown in the hook. nil: messages are discarded.
	Send func(context.Context, Message) error
	Log  func(Entry) // receives a hook's log, in order; nil: the log is discarded
	// Trace receives the steps that a hook reports with ctx.trace, in order; nil: they are discarded.
	Trace func(Entry)

	// The values of ctx.memory that outlive the request. Using a nil store is an error in the hook.
	ChatStore, UserStore, TeamStore Store

	state state
}

// state is the state that Create passes to Next.
type state struct {
	mu     sync.Mutex
	memory map[string]json.RawMessage // ctx.memory.context
	lastID int
	open   map[string]bool // messages that have not ended
}

// Op is an operation on a message.
type Op = protocol.Op

// The operations. Except Send and Start they change a message that Start began.
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

// Message is a message from a hook to the user. Its text is untrusted: escape it before a terminal shows it.
type Message struct {
	ID    string          `json:"id"` // unique within the Request; operations on a message repeat its ID
	Op    Op              `json:"op"`
	Type  string          `json:"type,omitempty"`  // such as "text" and "loading"; "" only with End
	Props json.RawMessage `json:"props,omitempty"` // an object, at most 1 MiB; a text message has "content"
}

// Entry is a line of a hook's log. Its text is untrusted: escape it before a terminal shows it.
type Entry struct {
	Level Level  `json:"level"`
	Text  string `json:"text"` // at most 8 KiB; may have line breaks
}

// Store holds values that outlive a request. Keys are not empty and at most 256 bytes, values are JSON of at most
// 1 MiB. Implementations are safe for concurrent use and bound their size with an error of Save.
type Store interface {
	// Load returns the value of a key, or nil if it is not set.
	Load(ctx context.Context, key string) (json.RawMessage, error)
	// Save sets the value of a key.
	Save(ctx context.Context, key string, value json.RawMessage) error
	// LoadOrSave returns the value of a key, and sets it first if it is missing. Of concurrent callers one sets the value,
	// and all get that value.
	LoadOrSave(ctx context.Context, key string, value json.RawMessage) (json.RawMessage, error)
	// Delete removes a key, which may be missing.
	Delete(ctx context.Context, key string) error
	// Keys returns the keys, sorted.
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
