package link

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"sync"
	"time"
)

const (
	// maxUnconfirmed is how much is kept for a stream to come; who writes more waits.
	maxUnconfirmed = 4 << 20
	// ackEvery is after how much that was received the other end is told.
	ackEvery = 256 << 10
)

// ErrClosed is that of a connection which this end has closed.
var ErrClosed = errors.New("the connection is closed")

// Conn is one end of a connection. Read is for one goroutine at a time, everything else for any number.
type Conn struct {
	broke func(error) // is told that the stream broke, on a goroutine of its own, once for each stream

	writing sync.Mutex // who has it writes to the stream

	mu       sync.Mutex
	change   sync.Cond // a stream came, the end came, or there is room
	stream   io.ReadWriteCloser
	muted    io.ReadWriteCloser // the last stream to which a write failed
	in       *inbound
	err      error         // of the end
	ending   bool          // the end is to be told
	done     chan struct{} // closed with err set
	segments []segment     // what is not confirmed, oldest first
	next     int           // of them, the first that was not written to stream
	sent     uint64        // bytes in all, confirmed or not
	acked    uint64
	received uint64
	told     uint64 // of received, what the other end knows of
	due      bool   // an ack is to be sent
}

// inbound is a stream as it is read.
type inbound struct {
	stream io.ReadWriteCloser
	*bufio.Reader

	rest int // of a data frame, what was not returned yet
}

// segment is a data frame, and how far the bytes before it reach.
type segment struct {
	frame []byte
	begin uint64
}

func (s segment) end() uint64 { return s.begin + uint64(len(s.frame)-headLength) }

func newConn(broke func(error)) *Conn {
	c := &Conn{broke: broke, done: make(chan struct{})}
	c.change.L = &c.mu
	return c
}

// broken reports whether there is no stream.
func (c *Conn) broken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stream == nil
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// attach goes on over a new stream, whose other end has received that much. The connection has none.
func (c *Conn) attach(stream io.ReadWriteCloser, in *bufio.Reader, received uint64) error {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return c.err
	}
	if err := c.confirm(received, c.sent); err != nil {
		c.mu.Unlock()
		return err
	}
	if n := len(c.segments); n > 0 && c.segments[0].begin < received { // its first part has arrived
		s := c.segments[0]
		tail := s.frame[headLength+int(received-s.begin):]
		h := head(frameData, len(tail))
		c.segments[0] = segment{append(h[:], tail...), received}
	}
	c.stream, c.in, c.next, c.told = stream, &inbound{stream: stream, Reader: in}, 0, c.received
	c.change.Broadcast()
	c.mu.Unlock()
	go c.flush()
	return nil
}

// detach lets go of the stream, if there is one, and returns what has been received: nothing that still comes from it counts.
func (c *Conn) detach() (received uint64, err error) {
	c.mu.Lock()
	old := c.stream
	c.stream = nil
	received, err = c.received, c.err
	c.mu.Unlock()
	if old != nil {
		_ = old.Close()
	}
	return received, err
}

// confirm drops what the other end has received, of what it can have. The caller has the lock.
func (c *Conn) confirm(received, most uint64) error {
	if received < c.acked || received > most {
		return errProtocol
	}
	c.acked = received
	n := 0
	for n < len(c.segments) && c.segments[n].end() <= received {
		n++
	}
	c.segments = slices.Delete(c.segments, 0, n)
	c.next = max(0, c.next-n)
	c.change.Broadcast()
	return nil
}

// lost notes that a stream broke, once.
func (c *Conn) lost(stream io.ReadWriteCloser, why error) {
	c.mu.Lock()
	if c.stream != stream || c.err != nil {
		c.mu.Unlock()
		return
	}
	c.stream = nil
	c.mu.Unlock()
	_ = stream.Close()
	go c.broke(why)
}

// end ends the connection, once.
func (c *Conn) end(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	stream := c.stream
	c.stream, c.segments = nil, nil
	c.change.Broadcast()
	close(c.done)
	c.mu.Unlock()
	if stream != nil {
		_ = stream.Close()
	}
}

// Write sends p, and returns when it is sure to be sent, over this stream or a later one.
func (c *Conn) Write(p []byte) (int, error) {
	n := 0
	for len(p) > 0 {
		part := p[:min(len(p), maxPayload)]
		if err := c.queue(part); err != nil {
			return n, err
		}
		c.flush()
		n, p = n+len(part), p[len(part):]
	}
	return n, nil
}

func (c *Conn) queue(p []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil && c.sent-c.acked > maxUnconfirmed {
		c.change.Wait()
	}
	if c.err != nil {
		return c.err
	}
	if c.ending {
		return ErrClosed
	}
	h := head(frameData, len(p))
	c.segments = append(c.segments, segment{append(append(make([]byte, 0, headLength+len(p)), h[:]...), p...), c.sent})
	c.sent += uint64(len(p))
	return nil
}

// flush writes what waits.
func (c *Conn) flush() {
	c.writing.Lock()
	defer c.writing.Unlock()
	for {
		stream, frame, last := c.pick()
		if frame == nil {
			return
		}
		if _, err := stream.Write(frame); err != nil {
			c.mute(stream, err)
			return
		}
		if last {
			c.end(ErrClosed)
			return
		}
	}
}

// mute stops writing to a stream whose write failed. The other end may have closed the connection and said so before: the
// frames that it sent are still read, until the stream's end or for readTime.
func (c *Conn) mute(stream io.ReadWriteCloser, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stream == stream {
		c.muted = stream
		time.AfterFunc(readTime, func() { c.lost(stream, why) })
	}
}

// readTime is how long a stream is still read after a write to it failed.
const readTime = 250 * time.Millisecond

// pick takes the next frame to write; nil: there is none, or nothing to write it to.
func (c *Conn) pick() (stream io.ReadWriteCloser, frame []byte, last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stream == nil || c.stream == c.muted || c.err != nil:
		return nil, nil, false
	case c.due:
		c.due, c.told = false, c.received
		return c.stream, ackFrame(c.received), false
	case c.next < len(c.segments):
		c.next++
		return c.stream, c.segments[c.next-1].frame, false
	case c.ending:
		h := head(frameEnd, 0)
		return c.stream, h[:], true
	}
	return nil, nil, false
}

// Read reads what the other end has sent. It is io.EOF when that has closed the connection.
func (c *Conn) Read(p []byte) (int, error) {
	for {
		in, err := c.source()
		if err != nil {
			return 0, err
		}
		n, err := c.readFrom(in, p)
		switch {
		case err == nil && n > 0:
			return n, nil
		case errors.Is(err, errEnded):
			c.end(io.EOF)
		case errors.Is(err, errProtocol):
			c.end(err)
		case err != nil:
			c.lost(in.stream, err)
		}
	}
}

// errEnded is that of a stream on which the other end has closed the connection.
var errEnded = errors.New("closed by the other end")

// source waits for a stream.
func (c *Conn) source() (*inbound, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil && c.stream == nil {
		c.change.Wait()
	}
	return c.in, c.err
}

// readFrom takes a frame, or some of one, off a stream. It returns 0 bytes for those that hold none.
func (c *Conn) readFrom(in *inbound, p []byte) (int, error) {
	if in.rest == 0 {
		kind, length, err := readHead(in)
		if err != nil {
			return 0, err
		}
		if kind != frameData {
			return 0, c.take(kind, in)
		}
		in.rest = length
	}
	n, err := in.Read(p[:min(len(p), in.rest)])
	in.rest -= n
	if n > 0 {
		return c.count(in, n), nil // an error comes again
	}
	return 0, err
}

// count notes what was received and returns it, and has the other end told now and then. What comes from a stream that
// was let go of is not received: it comes again.
func (c *Conn) count(in *inbound, n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stream != in.stream {
		return 0
	}
	c.received += uint64(n)
	if c.received-c.told >= ackEvery && !c.due {
		c.due = true
		go c.flush() // who reads must not wait for the other end to do so
	}
	return n
}

// take deals with a frame without data.
func (c *Conn) take(kind byte, in *inbound) error {
	if kind == frameEnd {
		return errEnded
	}
	received, err := readCount(in)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stream != in.stream {
		return nil
	}
	return c.confirm(received, c.written())
}

// written is how far the bytes reach that were written to the stream. The caller has the lock.
func (c *Conn) written() uint64 {
	if c.next < len(c.segments) {
		return c.segments[c.next].begin
	}
	return c.sent
}

// Close has what was written sent, and the other end told that the connection is closed, as far as there is a stream for it
// that takes it within a moment. It does not wait for that.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.ending = true
	c.mu.Unlock()
	if c.broken() {
		c.end(ErrClosed)
		return nil
	}
	time.AfterFunc(closeTime, func() { c.end(ErrClosed) })
	go c.flush()
	return nil
}

// closeTime is how long the last that is sent may take.
const closeTime = 3 * time.Second
