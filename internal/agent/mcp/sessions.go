package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Defaults of [SessionsOptions].
const (
	DefaultIdle     = 10 * time.Minute
	DefaultSessions = 256
)

// Key identifies the owner of servers. Chats with the same ID of two users share nothing.
type Key struct {
	User string // identifies the user, with the tenant where there are several
	Chat string
}

// SessionsOptions are what sessions are opened with.
type SessionsOptions struct {
	Options

	Idle time.Duration // an unused set is closed after it; 0: DefaultIdle
	Max  int           // sets at one time; 0: DefaultSessions
}

// Sessions keep the servers of chats from one request to the next. It is safe for concurrent use.
type Sessions struct {
	options SessionsOptions
	all     sync.WaitGroup // what opens and closes

	mu     sync.Mutex
	open   map[place]*session
	closed bool
}

// place is a key and what was asked for: an assistant that was changed gets other servers.
type place struct {
	Key

	servers [sha256.Size]byte
}

// session is one set that is open, or being opened.
type session struct {
	ready  chan struct{} // closed when set or err is there
	cancel context.CancelFunc
	set    *Set
	err    error

	users int
	since time.Time   // the last use ended
	idle  *time.Timer // nil: it is in use
}

// NewSessions has none open. The caller closes it.
func NewSessions(o SessionsOptions) *Sessions {
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.Max <= 0 {
		o.Max = DefaultSessions
	}
	return &Sessions{options: o, open: map[place]*session{}}
}

// Acquire returns the set of a chat's servers: the one that is open or being opened, if its servers are the same. It
// does not end with ctx, which bounds only the wait. The caller calls release, once, and does not use the set afterwards. The
// errors are those of [Open], and Exhausted when too many are in use.
func (s *Sessions) Acquire(ctx context.Context, key Key, servers []tool.Server) (set *Set, release func(), err error) {
	if key.User == "" || key.Chat == "" {
		return nil, nil, sandbox.Errorf(sandbox.Invalid, "servers belong to a user and a chat")
	}
	text, err := json.Marshal(servers)
	if err != nil {
		return nil, nil, err
	}
	at := place{key, sha256.Sum256(text)}
	one, err := s.use(at, servers)
	if err != nil {
		return nil, nil, err
	}
	release = sync.OnceFunc(func() { s.release(at, one) })
	select {
	case <-one.ready:
	case <-ctx.Done():
		release()
		return nil, nil, ctx.Err()
	}
	if one.err != nil {
		release()
		return nil, nil, one.err
	}
	return one.set, release, nil
}

// use finds a session, or begins to open one.
func (s *Sessions) use(at place, servers []tool.Server) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed()
	}
	if one := s.open[at]; one != nil {
		one.users++
		if one.idle != nil {
			one.idle.Stop() // it may have begun: expire looks again
			one.idle = nil
		}
		return one, nil
	}
	if len(s.open) >= s.options.Max && !s.evict() {
		return nil, sandbox.Errorf(sandbox.Exhausted, "the servers of %d chats are in use", len(s.open)).WithHint("wait until a turn has ended")
	}
	ctx, cancel := context.WithCancel(context.Background()) // it outlives the request
	one := &session{ready: make(chan struct{}), cancel: cancel, users: 1}
	s.open[at] = one
	s.all.Go(func() {
		one.set, one.err = Open(ctx, servers, s.options.Options)
		if one.err != nil {
			s.mu.Lock()
			s.forget(at, one) // the next one tries again
			s.mu.Unlock()
		}
		close(one.ready)
	})
	return one, nil
}

// forget takes a session from those that are open.
func (s *Sessions) forget(at place, one *session) {
	if s.open[at] == one {
		delete(s.open, at)
	}
}

// evict closes the session that is unused for the longest time; false: all are in use.
func (s *Sessions) evict() bool {
	var oldest *session
	var at place
	for p, one := range s.open {
		if one.users == 0 && (oldest == nil || one.since.Before(oldest.since)) {
			oldest, at = one, p
		}
	}
	if oldest == nil {
		return false
	}
	s.end(at, oldest)
	return true
}

// end closes a session, without waiting for it.
func (s *Sessions) end(at place, one *session) {
	s.forget(at, one)
	if one.idle != nil {
		one.idle.Stop()
	}
	one.cancel()
	s.all.Go(func() {
		<-one.ready
		if one.set != nil {
			one.set.Close()
		}
	})
}

func (s *Sessions) release(at place, one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.users--
	if one.users > 0 || s.open[at] != one {
		return
	}
	one.since = time.Now()
	one.idle = time.AfterFunc(s.options.Idle, func() { s.expire(at, one) })
}

// expire closes an idle session, unless it is in use again.
func (s *Sessions) expire(at place, one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || one.users > 0 || one.idle == nil || s.open[at] != one || time.Since(one.since) < s.options.Idle {
		return
	}
	s.end(at, one)
}

// Close ends all servers, those that are in use, too, and returns when nothing of them is left.
func (s *Sessions) Close() {
	s.mu.Lock()
	s.closed = true
	for at, one := range s.open {
		s.end(at, one)
	}
	s.mu.Unlock()
	s.all.Wait()
}
