package mux

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// firstWindow is the window of a stream before its first Read.
const firstWindow = 256 << 10

// Stream is one stream of a session. Each direction ends separately. Its methods are safe for concurrent use; the bytes of
// one Write stay together.
type Stream struct {
	session *Session
	id      uint32

	writing sync.Mutex // serializes Writes

	mu      sync.Mutex
	change  sync.Cond
	unsaid  bool // the other end does not know the stream yet
	in      queue
	granted int   // bytes that the other end may still send
	room    int   // bytes that this end may send
	ended   bool  // the other end sends no more
	stopped bool  // the other end reads no more
	sent    bool  // this end sends no more
	closed  bool  // this end reads no more
	taken   int   // bytes read since the last credit
	sending bool  // a Write has reserved room and has not sent yet
	late    byte  // flags to send after that Write
	err     error // why the stream broke or the session ended

	reads, writes deadline
}

func newStream(s *Session, id uint32, unsaid bool) *Stream {
	t := &Stream{session: s, id: id, unsaid: unsaid, granted: firstWindow, room: firstWindow}
	t.change.L = &t.mu
	return t
}

// ID returns the number of the stream, which is unique among the open streams.
func (t *Stream) ID() uint32 { return t.id }

// head returns the head of the next frame. The caller holds the lock.
func (t *Stream) head(flags byte, length int) head {
	if t.unsaid {
		flags |= flagOpen
		t.unsaid = false
	}
	return head{id: t.id, flags: flags, length: uint32(length)}
}

// Read returns io.EOF when the other end has ended its direction, and ErrReset or ErrClosed when it broke before that.
func (t *Stream) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	if err := t.wait(); err != nil {
		return 0, err
	}
	n := t.in.read(p)
	t.credit(n)
	return n, nil
}

// wait returns nil when bytes can be read. The caller holds the lock.
func (t *Stream) wait() error {
	for {
		switch {
		case t.closed:
			return ErrClosed
		case t.reads.isOver():
			return os.ErrDeadlineExceeded
		case t.in.size > 0:
			return nil
		case t.err != nil:
			return t.err
		case t.ended:
			return io.EOF
		}
		t.change.Wait()
	}
}

// credit grants the other end the bytes that were read, once they are many.
func (t *Stream) credit(n int) {
	t.taken += n
	if t.taken < firstWindow/2 || t.ended || t.err != nil {
		return
	}
	more := window - t.in.size - t.granted
	t.taken = 0
	t.granted += more
	t.session.out.notify(head{id: t.id, flags: flagCredit, length: uint32(more)})
}

// Write waits while the other end has no room. Its result does not mean that the other end has read the bytes. A deadline
// does not end the wait for the connection itself.
func (t *Stream) Write(p []byte) (int, error) { return t.WriteTwo(p, nil) }

// WriteTwo writes a and b as one Write.
func (t *Stream) WriteTwo(a, b []byte) (int, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	return t.write(a, b, 0)
}

// WriteLast writes a and b, which are not both empty, and closes the stream in the same frames, so that the other end need
// not answer when it closes the stream.
func (t *Stream) WriteLast(a, b []byte) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	_, err := t.write(a, b, flagEnd|flagStop)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil || t.closed {
		return err
	}
	t.sent, t.closed = true, true
	t.in.clear()
	t.change.Broadcast()
	t.forget()
	return nil
}

// write sends a and b, and the flags last with the last frame.
func (t *Stream) write(a, b []byte, last byte) (int, error) {
	done := 0
	for len(a)+len(b) > 0 {
		h, err := t.reserve(len(a) + len(b))
		if err != nil {
			return done, err
		}
		n := int(h.length)
		if n == len(a)+len(b) {
			h.flags |= last
		}
		first := min(n, len(a))
		second := n - first
		err = t.session.out.send(h, a[:first], b[:second])
		t.sentOne()
		if err != nil {
			return done, err
		}
		done += n
		a, b = a[first:], b[second:]
	}
	return done, nil
}

// sentOne sends the flags that were due while a Write was sending.
func (t *Stream) sentOne() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sending = false
	if t.late != 0 {
		t.session.out.notify(t.head(t.late, 0))
		t.late = 0
	}
}

// ReadFrom copies r to the stream until the end of r.
func (t *Stream) ReadFrom(r io.Reader) (int64, error) {
	buf := make([]byte, maxPayload)
	var done int64
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if _, werr := t.Write(buf[:n]); werr != nil {
				return done, werr
			}
			done += int64(n)
		}
		if errors.Is(err, io.EOF) {
			return done, nil
		}
		if err != nil {
			return done, err
		}
	}
}

// WriteTo copies the stream to w until the end of the stream.
func (t *Stream) WriteTo(w io.Writer) (int64, error) {
	var done int64
	for {
		p, err := t.piece()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return done, err
		}
		n, err := w.Write(p.data)
		p.free()
		done += int64(n)
		if err != nil {
			return done, err
		}
	}
}

// piece waits for bytes and returns them in the piece in which they arrived.
func (t *Stream) piece() (piece, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.wait(); err != nil {
		return piece{}, err
	}
	p := t.in.take()
	t.credit(len(p.data))
	return p, nil
}

// reserve waits until some of n bytes may be sent.
func (t *Stream) reserve(n int) (head, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		switch {
		case t.err != nil:
			return head{}, t.err
		case t.sent:
			return head{}, ErrClosed
		case t.stopped:
			return head{}, ErrStopped
		case t.writes.isOver():
			return head{}, os.ErrDeadlineExceeded
		case t.room > 0:
			n = min(n, t.room, maxPayload)
			t.room -= n
			t.sending = true
			return t.head(0, n), nil
		}
		t.mu.Unlock()
		t.session.out.push()
		t.mu.Lock()
		if t.room == 0 && t.err == nil && !t.sent && !t.stopped && !t.writes.isOver() {
			t.change.Wait()
		}
	}
}

// CloseWrite ends the direction to the other end.
func (t *Stream) CloseWrite() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sent || t.err != nil {
		return ErrClosed
	}
	t.finish(flagEnd)
	return nil
}

// Close ends both directions: bytes written before still arrive, bytes from the other end are dropped.
func (t *Stream) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.finish(flagEnd | flagStop)
	}
	return nil
}

// Reset breaks the stream: the other end's Read returns the bytes sent before and then ErrReset.
func (t *Stream) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.finish(flagReset | flagStop)
	}
}

// finish sends those of the flags that are new. The caller holds the lock.
func (t *Stream) finish(flags byte) {
	said := flags
	if t.sent {
		said &^= flagEnd | flagReset
	}
	t.sent = true
	if flags&flagStop != 0 {
		t.closed = true
		t.in.clear()
		if t.ended {
			said &^= flagStop
		}
	}
	if t.stopped {
		said = 0 // the other end has forgotten the stream
	}
	switch {
	case said == 0 || t.err != nil || t.unsaid && t.closed:
	case t.sending:
		t.late |= said
	default:
		t.session.out.notify(t.head(said, 0))
	}
	t.change.Broadcast()
	if t.closed || t.ended {
		t.forget()
	}
}

// forget drops the stream when this end has no more frames to send. The caller holds the lock.
func (t *Stream) forget() {
	t.reads.stop()
	t.writes.stop()
	t.session.forget(t)
}

// lost ends the stream with its session.
func (t *Stream) lost(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil && (!t.ended || !t.sent) {
		t.err = err
	}
	t.reads.stop()
	t.writes.stop()
	t.change.Broadcast()
}

// take handles a frame, whose payload is next in r. It does not hold the lock while it waits for the payload.
func (t *Stream) take(h head, r *bufio.Reader) error {
	if h.flags&flagCredit != 0 {
		return t.allow(int(h.length))
	}
	var p *piece
	if h.length > 0 {
		var err error
		if p, err = receive(r, int(h.length)); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case p == nil:
	case t.closed:
		p.free()
	case len(p.data) > t.granted || t.ended:
		return fmt.Errorf("%w: %d bytes exceed the window", errProtocol, h.length)
	default:
		t.granted -= len(p.data)
		t.in.add(p)
	}
	if p != nil {
		p.received(r)
	}
	if h.flags&flagEnd != 0 {
		t.ended = true
	}
	if h.flags&flagStop != 0 {
		t.stopped = true
	}
	if h.flags&flagReset != 0 && t.err == nil {
		t.err = ErrReset
	}
	t.change.Broadcast()
	if t.err != nil || t.ended && t.sent {
		t.forget()
	}
	return nil
}

// allow adds a credit of the other end.
func (t *Stream) allow(n int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.room += n; t.room > window {
		return fmt.Errorf("%w: a window of %d bytes", errProtocol, t.room)
	}
	t.change.Broadcast()
	return nil
}

// SetDeadline bounds both directions. A time in the past ends waiting calls; the zero time removes the bound.
func (t *Stream) SetDeadline(at time.Time) error {
	return errors.Join(t.SetReadDeadline(at), t.SetWriteDeadline(at))
}

// SetReadDeadline bounds reads.
func (t *Stream) SetReadDeadline(at time.Time) error { return t.set(&t.reads, at) }

// SetWriteDeadline bounds the time for which writes wait for room.
func (t *Stream) SetWriteDeadline(at time.Time) error { return t.set(&t.writes, at) }

func (t *Stream) set(d *deadline, at time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	d.set(at, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.change.Broadcast()
	})
	t.change.Broadcast()
	return nil
}

// deadline is the time at which waiting calls return an error.
type deadline struct {
	at    time.Time // zero: never
	timer *time.Timer
}

func (d *deadline) isOver() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (d *deadline) set(at time.Time, over func()) {
	d.stop()
	d.at = at
	if wait := time.Until(at); !at.IsZero() && wait > 0 {
		d.timer = time.AfterFunc(wait, over)
	}
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
