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
	// maxUnconfirmed is the number of unconfirmed bytes that Conn stores for a later stream; at this limit Write waits.
	maxUnconfirmed = 4 << 20
	// ackEvery is the number of received bytes after which an ack is sent.
	ackEvery = 256 << 10
)

// ErrClosed is the error of a connection that this end has closed.
var ErrClosed = errors.New("the connection is closed")

// Conn is one end of a connection. Read is for one goroutine at a time, everything else for any number.
type Conn struct {
	broke func(error) // called once for each broken stream, on a new goroutine

	writing sync.Mutex // held while writing to the stream
	readMu  sync.Mutex // held while reading the stream

	mu       sync.Mutex
	change   sync.Cond // signals a new stream, the end of the connection, or room for more bytes
	stream   io.ReadWriteCloser
	muted    io.ReadWriteCloser // the last stream to which a write failed
	in       *inbound
	reading  bool          // a Read or a peek waits for the stream
	reads    uint64        // the number of times that the stream was read
	err      error         // why the connection ended
	ending   bool          // an end frame must be sent
	done     chan struct{} // closed with err set
	segments []segment     // not yet confirmed, oldest first
	next     int           // index of the first segment that was not written to stream
	sent     uint64        // bytes in all, confirmed or not
	acked    uint64
	received uint64
	told     uint64 // the part of received that acks have reported
	due      bool   // an ack must be sent
}

// inbound is the reading side of a stream.
type inbound struct {
	stream io.ReadWriteCloser
	*bufio.Reader

	rest int // bytes of the current data frame that Read has not returned yet
}

// segment is a data frame and the position of its first byte in the connection.
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

// isBroken reports whether the connection has no stream.
func (c *Conn) isBroken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stream == nil
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// attach continues over a new stream. received is what the other end has received. The connection must not have a stream.
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
	if n := len(c.segments); n > 0 && c.segments[0].begin < received { // the other end has received its first part
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

// detach drops the current stream, if any, and returns the number of received bytes. Bytes that still arrive on the dropped
// stream do not count.
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

// confirm drops the stored bytes that the other end has received; most is the largest valid number. The caller holds
// the lock.
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

// lost records the failure of a stream, once for each stream.
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

// Write queues p and returns when p is stored, so that this stream or a later one sends it.
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

// flush writes the queued frames.
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

// mute stops writing to a stream after a failed write. The other end may have sent frames and closed the connection
// before. Read still returns these frames, at the pace of its caller, until the stream ends or delivers no more bytes.
func (c *Conn) mute(stream io.ReadWriteCloser, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stream == stream && c.muted != stream {
		c.muted = stream
		c.awaitLast(stream, why, c.reads, idleChecks)
	}
}

// A muted stream is lost if the same Read waits for it at each of idleChecks checks. One check is not enough, because a
// busy machine can delay a Read whose bytes have arrived.
const (
	idleChecks = 4
	checkEvery = 250 * time.Millisecond
)

// awaitLast checks at intervals whether reads of the muted stream still return, and drops it otherwise. reads is the
// number of reads at the last check. left is the number of further checks without a new read that drop the stream.
func (c *Conn) awaitLast(stream io.ReadWriteCloser, why error, reads uint64, left int) {
	time.AfterFunc(checkEvery, func() {
		c.mu.Lock()
		in, idle := c.in, !c.reading
		if c.stream != stream {
			c.mu.Unlock()
			return
		}
		left--
		if idle || c.reads != reads {
			reads, left = c.reads, idleChecks
		}
		c.mu.Unlock()
		if left == 0 {
			c.lost(stream, why)
			return
		}
		if idle {
			go c.peek(in)
		}
		c.awaitLast(stream, why, reads, left)
	})
}

// peek detects the end of a muted stream for which no Read waits. The next Read still returns its bytes.
func (c *Conn) peek(in *inbound) {
	if !c.readMu.TryLock() {
		return
	}
	defer c.readMu.Unlock()
	c.mu.Lock()
	current := c.stream == in.stream
	c.reading = current
	c.mu.Unlock()
	if !current {
		return
	}
	_, err := in.Peek(1)
	c.noteRead()
	if err != nil {
		c.lost(in.stream, err)
	}
}

// pick takes the next frame to write. It returns nil if the queue is empty or the connection has no stream.
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

// Read reads what the other end has sent. It returns io.EOF after the other end has closed the connection.
func (c *Conn) Read(p []byte) (int, error) {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	for {
		in, err := c.source()
		if err != nil {
			return 0, err
		}
		n, err := c.readFrom(in, p)
		c.noteRead()
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

// errEnded is the error of a stream on which the other end has closed the connection.
var errEnded = errors.New("closed by the other end")

// source waits for a stream and returns it. The caller reads it and then calls noteRead.
func (c *Conn) source() (*inbound, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil && c.stream == nil {
		c.change.Wait()
	}
	c.reading = c.err == nil
	return c.in, c.err
}

func (c *Conn) noteRead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = false
	c.reads++
}

// readFrom reads a frame, or part of one, from a stream. It returns 0 bytes for a frame without data.
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
		return c.count(in, n), nil // the next Read returns the error again
	}
	return 0, err
}

// count adds n to the received bytes, returns the number that counts, and sends an ack from time to time. Bytes from a
// dropped stream do not count: the other end sends them again.
func (c *Conn) count(in *inbound, n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stream != in.stream {
		return 0
	}
	c.received += uint64(n)
	if c.received-c.told >= ackEvery && !c.due {
		c.due = true
		go c.flush() // Read must not block until the other end reads
	}
	return n
}

// take handles a frame without data.
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

// written returns the position after the last byte that was written to the stream. The caller holds the lock.
func (c *Conn) written() uint64 {
	if c.next < len(c.segments) {
		return c.segments[c.next].begin
	}
	return c.sent
}

// Close closes the connection. In the background it sends the queued bytes and an end frame, if a stream accepts them within
// closeTime.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.ending = true
	c.mu.Unlock()
	if c.isBroken() {
		c.end(ErrClosed)
		return nil
	}
	time.AfterFunc(closeTime, func() { c.end(ErrClosed) })
	go c.flush()
	return nil
}

// closeTime bounds the last writes of a closed connection.
const closeTime = 3 * time.Second
