package mux

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
)

var (
	// ErrClosed is the error of a session that has ended, and of a stream that this end has closed.
	ErrClosed = errors.New("the session has ended")
	// ErrReset is the error of a stream that the other end has reset.
	ErrReset = fmt.Errorf("the stream broke off: %w", io.ErrUnexpectedEOF)
	// ErrStopped is the error of a write that the other end will not read.
	ErrStopped = errors.New("the other end reads no more")

	errProtocol = errors.New("the other end broke the protocol")
)

// Session is one end of a connection. It is safe for concurrent use.
type Session struct {
	conn io.ReadWriteCloser
	out  sender
	odd  uint32 // 1: this end's streams have odd numbers

	accepted chan *Stream
	done     chan struct{}

	mu      sync.Mutex
	next    uint32 // number of the next stream that this end opens
	streams map[uint32]*Stream
	theirs  int // number of the streams that the other end opened
	err     error
}

// Client returns one end of a connection. One end is the client and the other the server; there is no other difference.
// r reads conn, with a buffer of 4 KiB or more. The session closes conn.
func Client(conn io.ReadWriteCloser, r *bufio.Reader) *Session { return begin(conn, r, 1) }

// Server returns the other end.
func Server(conn io.ReadWriteCloser, r *bufio.Reader) *Session { return begin(conn, r, 0) }

// maxBacklog is the number of streams that may wait for Accept; the session refuses more. It is large because a process
// that holds many sandboxes may get requests for many commands at once.
const maxBacklog = 1024

func begin(conn io.ReadWriteCloser, r *bufio.Reader, odd uint32) *Session {
	s := &Session{
		conn: conn, odd: odd, next: 2 - odd, streams: map[uint32]*Stream{},
		accepted: make(chan *Stream, maxBacklog), done: make(chan struct{}),
	}
	s.out.begin(conn, s.end)
	go s.read(r)
	return s
}

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Close ends the session and all of its streams. Bytes that were not written to the connection are lost; see [Session.Flush].
func (s *Session) Close() error {
	s.end(nil)
	return nil
}

// end ends the session, once. why is nil when this end closes it.
func (s *Session) end(why error) {
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return
	}
	s.err = ErrClosed
	if why != nil && !errors.Is(why, io.EOF) {
		s.err = fmt.Errorf("%w: %w", ErrClosed, why)
	}
	err, streams := s.err, s.streams
	s.streams = map[uint32]*Stream{}
	s.mu.Unlock()
	close(s.done)
	_ = s.conn.Close()
	s.out.close(err)
	for _, stream := range streams {
		stream.lost(err)
	}
}

// Open begins a stream. The other end learns of it by its first frame.
func (s *Session) Open() (*Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	for s.next == 0 || s.streams[s.next] != nil { // the numbers wrap around after 2³¹ streams
		s.next += 2
	}
	stream := newStream(s, s.next, true)
	s.streams[s.next] = stream
	s.next += 2
	return stream, nil
}

// Accept waits for the next stream that the other end opens.
func (s *Session) Accept() (*Stream, error) {
	select {
	case stream := <-s.accepted:
		return stream, nil
	case <-s.done:
		s.mu.Lock()
		defer s.mu.Unlock()
		return nil, s.err
	}
}

// Flush returns when all frames sent before are written to the connection, or the session has ended. Close drops the queue.
func (s *Session) Flush() { s.out.drain() }

// Together sends the frames that do writes in one write, if they fit.
func (s *Session) Together(do func() error) error {
	s.out.hold()
	defer s.out.release()
	return do()
}

// read reads frames from the connection until it ends.
func (s *Session) read(r *bufio.Reader) {
	for {
		var raw [headLength]byte
		if _, err := io.ReadFull(r, raw[:]); err != nil {
			s.end(err)
			return
		}
		if err := s.take(parseHead(raw), r); err != nil {
			s.end(err)
			return
		}
	}
}

// take handles one frame, whose payload is next in r.
func (s *Session) take(h head, r *bufio.Reader) error {
	if h.flags&^flagsKnown != 0 {
		return fmt.Errorf("%w: flags %#x", errProtocol, h.flags)
	}
	if h.flags&flagCredit == 0 && h.length > maxPayload {
		return fmt.Errorf("%w: a frame of %d bytes", errProtocol, h.length)
	}
	stream, err := s.find(h)
	if err != nil {
		return err
	}
	if stream == nil { // this end has closed the stream, and the other end had not received that yet
		if h.flags&flagCredit != 0 {
			return nil
		}
		_, err := r.Discard(int(h.length))
		return err
	}
	return stream.take(h, r)
}

// find returns the stream of a frame. It returns nil if the stream has ended or exceeds the limit.
func (s *Session) find(h head) (*Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	stream := s.streams[h.id]
	if h.flags&flagOpen == 0 {
		return stream, nil
	}
	if stream != nil || h.id == 0 || h.id&1 == s.odd {
		return nil, fmt.Errorf("%w: stream %d was opened", errProtocol, h.id)
	}
	if s.theirs < maxStreams {
		stream = newStream(s, h.id, false)
		select {
		case s.accepted <- stream:
			s.streams[h.id] = stream
			s.theirs++
			return stream, nil
		default:
		}
	}
	s.out.notify(head{id: h.id, flags: flagReset})
	return nil, nil //nolint:nilnil // a stream that is refused has ended already
}

// forget drops a stream that has ended in both directions.
func (s *Session) forget(stream *Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[stream.id] != stream {
		return
	}
	delete(s.streams, stream.id)
	if stream.id&1 != s.odd {
		s.theirs--
	}
}
