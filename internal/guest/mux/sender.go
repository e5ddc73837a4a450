package mux

import (
	"io"
	"sync"
)

// sender writes frames to the connection. A goroutine that sends a frame while no other one is writing writes it itself,
// together with the frames that others queue meanwhile.
type sender struct {
	w      io.Writer
	failed func(error) // called when a write to the connection fails

	mu      sync.Mutex
	room    sync.Cond // signals that pending was written, or the end of the sender
	pending []byte
	spare   []byte // the buffer of the last write, for reuse
	writing bool
	held    int   // number of calls of hold
	err     error // why the sender ended
}

func (s *sender) begin(w io.Writer, failed func(error)) {
	s.w, s.failed = w, failed
	s.room.L = &s.mu
}

// send queues a frame with the payload a and b. It writes the queue unless another goroutine is writing. It waits while the
// queue is full.
func (s *sender) send(h head, a, b []byte) error {
	s.mu.Lock()
	for s.err == nil && len(s.pending) > maxPending {
		if s.held > 0 && !s.writing { // the goroutine that called hold may be the one that waits here
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

// notify queues a frame without payload. It never waits for the connection.
func (s *sender) notify(h head) {
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

// push writes the queue even while hold delays writes: a goroutine that waits for the other end must have sent its
// frames.
func (s *sender) push() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.writing && s.err == nil {
		s.flush()
	}
}

// drain waits until the queue is written, including the frames that others queue meanwhile.
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

// turns is the number of consecutive writes that one goroutine makes for frames that others queued meanwhile.
const turns = 8

// flush writes the queue. The caller holds the lock, before and after, and no goroutine is writing.
func (s *sender) flush() {
	s.writing = true
	for range turns {
		if len(s.pending) == 0 || s.err != nil {
			s.rest()
			return
		}
		s.write()
	}
	go s.continued() // the caller must return
}

// continued is flush on a new goroutine, with writing already set.
func (s *sender) continued() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.pending) > 0 && s.err == nil {
		s.write()
	}
	s.rest()
}

// rest records that no goroutine is writing.
func (s *sender) rest() {
	s.writing = false
	s.room.Broadcast()
}

// write writes the whole queue and releases the lock while it writes.
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

// hold delays writes until release.
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

// close makes all later calls fail with err.
func (s *sender) close(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	s.pending, s.spare = nil, nil
	s.room.Broadcast()
}
