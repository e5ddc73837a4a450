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

// Key identifies the owner of servers. Chats of two users share nothing, even if they have the same ID.
type Key struct {
	User string // the user, including the tenant where there are several
	Chat string
}

// SessionsOptions configure sessions.
type SessionsOptions struct {
	Options

	Idle time.Duration // after which an unused set is closed; 0: DefaultIdle
	Max  int           // open sets; 0: DefaultSessions
}

// Sessions keeps the servers of chats open between requests. It is safe for concurrent use.
type Sessions struct {
	options SessionsOptions
	all     sync.WaitGroup // goroutines that open or close sets

	mu     sync.Mutex
	open   map[place]*session
	closed bool
}

// place is a key with the requested servers, so that a changed assistant gets new servers.
type place struct {
	Key

	servers [sha256.Size]byte
}

// session is one set that is open or being opened.
type session struct {
	ready  chan struct{} // closed when set or err is valid
	cancel context.CancelFunc
	set    *Set
	err    error

	users int
	since time.Time   // the end of the last use
	idle  *time.Timer // nil: in use
}

// NewSessions returns sessions without an open set. The caller closes it.
func NewSessions(o SessionsOptions) *Sessions {
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.Max <= 0 {
		o.Max = DefaultSessions
	}
	return &Sessions{options: o, open: map[place]*session{}}
}

// Acquire returns the set of a chat's servers, and opens it unless it is already open or opening with the same servers. The set
// outlives ctx, which bounds only the wait. The caller calls release once, and does not use the set afterwards. The
// errors are those of [Open], and Exhausted when too many sets are in use.
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

// use finds a session, or starts to open one.
func (s *Sessions) use(at place, servers []tool.Server) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed()
	}
	if one := s.open[at]; one != nil {
		one.users++
		if one.idle != nil {
			one.idle.Stop() // it may have fired: expire checks again
			one.idle = nil
		}
		return one, nil
	}
	if len(s.open) >= s.options.Max && !s.evict() {
		return nil, sandbox.Errorf(sandbox.Exhausted, "the servers of %d chats are in use", len(s.open)).WithHint("wait until a turn has ended")
	}
	ctx, cancel := context.WithCancel(context.Background()) // the set outlives the request
	one := &session{ready: make(chan struct{}), cancel: cancel, users: 1}
	s.open[at] = one
	s.all.Go(func() {
		one.set, one.err = Open(ctx, servers, s.options.Options)
		if one.err != nil {
			s.mu.Lock()
			s.forget(at, one) // the next request tries again
			s.mu.Unlock()
		}
		close(one.ready)
	})
	return one, nil
}

// forget removes a session from the table.
func (s *Sessions) forget(at place, one *session) {
	if s.open[at] == one {
		delete(s.open, at)
	}
}

// evict closes the session that was unused for the longest time; false: all are in use.
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

// end closes a session without waiting for it.
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

// Close ends all servers, including those in use, and waits until they are gone.
func (s *Sessions) Close() {
	s.mu.Lock()
	s.closed = true
	for at, one := range s.open {
		s.end(at, one)
	}
	s.mu.Unlock()
	s.all.Wait()
}
