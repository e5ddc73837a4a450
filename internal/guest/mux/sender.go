package mux

import (
	"io"
	"sync"
)

// sender brings frames onto the connection. Who has something to say and finds nobody writing writes it itself, and what
// others said meanwhile along with it.
type sender struct {
	w      io.Writer
	failed func(error) // called when the connection does not take what is written

	mu      sync.Mutex
	room    sync.Cond // pending went, or the end came
	pending []byte
	spare   []byte // the buffer that was written last
	writing bool
	held    int   // calls of hold
	err     error // of the end
}

func (s *sender) begin(w io.Writer, failed func(error)) {
	s.w, s.failed = w, failed
	s.room.L = &s.mu
}

// send queues a frame with the payload a and b and, unless somebody else does it, writes what is queued. It waits while too much is.
func (s *sender) send(h head, a, b []byte) error {
	s.mu.Lock()
	for s.err == nil && len(s.pending) > maxPending {
		if s.held > 0 && !s.writing { // who holds may wait here itself
			s.flush()
			continue
		}
		s.room.Wait()
	}
	if s.err != nil {
		defer s.mu.Unlock()
		return s.err
	}
	s.pending = append(append(h.appendTo(s.pending), a...), b...)
	if !s.writing && s.held == 0 {
		s.flush()
	}
	s.mu.Unlock()
	return nil
}

// tell queues a frame without payload, and never waits for the connection.
func (s *sender) tell(h head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.pending = h.appendTo(s.pending)
	if !s.writing && s.held == 0 {
		s.writing = true
		go s.continued()
	}
}

// push writes what is queued although it is held: who waits for the other end must have been heard.
func (s *sender) push() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.writing && s.err == nil {
		s.flush()
	}
}

// drain waits until all that was queued is written, what others queue meanwhile too.
func (s *sender) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && (s.writing || len(s.pending) > 0) {
		if !s.writing {
			s.flush()
			continue
		}
		s.room.Wait()
	}
}

// turns is how often one writes in a row what others have queued meanwhile.
const turns = 8

// flush writes what is queued. It is called with the lock and without anybody writing, and returns with the lock.
func (s *sender) flush() {
	s.writing = true
	for range turns {
		if len(s.pending) == 0 || s.err != nil {
			s.rest()
			return
		}
		s.write()
	}
	go s.continued() // who called has something else to do
}

// continued is flush on a goroutine of its own, which is writing already.
func (s *sender) continued() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.pending) > 0 && s.err == nil {
		s.write()
	}
	s.rest()
}

// rest says that nobody writes any more.
func (s *sender) rest() {
	s.writing = false
	s.room.Broadcast()
}

// write writes all that is queued, without the lock while it does.
func (s *sender) write() {
	out := s.pending
	s.pending, s.spare = s.spare[:0], nil
	s.mu.Unlock()
	_, err := s.w.Write(out)
	if err != nil {
		s.failed(err)
	}
	s.mu.Lock()
	if cap(out) <= 2*maxPending {
		s.spare = out
	}
	s.room.Broadcast()
}

// hold queues what is sent until release.
func (s *sender) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held++
}

func (s *sender) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held--
	if s.held == 0 && !s.writing {
		s.flush()
	}
}

// close has everything fail with err from now on.
func (s *sender) close(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	s.pending, s.spare = nil, nil
	s.room.Broadcast()
}
