package mux

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
)

var (
	// ErrClosed is that of a session that has ended, and of a stream that was closed here.
	ErrClosed = errors.New("the session has ended")
	// ErrReset is that of a stream that broke at the other end.
	ErrReset = fmt.Errorf("the stream broke off: %w", io.ErrUnexpectedEOF)
	// ErrStopped is that of writing what the other end no longer reads.
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
	next    uint32 // number of the next stream that is opened here
	streams map[uint32]*Stream
	theirs  int // of streams, those that the other end opened
	err     error
}

// Client is the end of a connection that says so: one end is the client, the other the server, which is all that
// differs. r reads conn, with a buffer of 4 KiB or more; the session closes conn.
func Client(conn io.ReadWriteCloser, r *bufio.Reader) *Session { return begin(conn, r, 1) }

// Server is the other end.
func Server(conn io.ReadWriteCloser, r *bufio.Reader) *Session { return begin(conn, r, 0) }

// maxBacklog is how many streams wait to be accepted; more are refused.
const maxBacklog = 256

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

// Close ends the session and all of its streams. What the connection has not taken yet is lost; see [Session.Flush].
func (s *Session) Close() error {
	s.end(nil)
	return nil
}

// end ends the session, once; why is nil when this end wants it.
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
	for s.next == 0 || s.streams[s.next] != nil { // they begin anew after 2³¹ streams
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

// Flush returns when the connection has taken all that was sent before, or the session has ended: Close drops what waits.
func (s *Session) Flush() { s.out.drain() }

// Together sends in one write what do writes, as far as it fits.
func (s *Session) Together(do func() error) error {
	s.out.hold()
	defer s.out.release()
	return do()
}

// read takes frames off the connection until it ends.
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

// take deals with one frame, whose payload is next in r.
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
	if stream == nil { // it was closed here, and the other end did not know yet
		if h.flags&flagCredit != 0 {
			return nil
		}
		_, err := r.Discard(int(h.length))
		return err
	}
	return stream.take(h, r)
}

// find returns the stream of a frame, nil when there is none any more, or when it is one too many.
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
	s.out.tell(head{id: h.id, flags: flagReset})
	return nil, nil //nolint:nilnil // a stream that is refused has ended already
}

// forget drops a stream that has ended both ways.
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
