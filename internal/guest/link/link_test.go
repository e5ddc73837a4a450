package link

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"math/big"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// patient is the time that tests allow for a new stream.
const patient = 20 * time.Second

// fragile is a stream that breaks after it has carried a number of bytes. An unknown part of the last bytes arrives.
type fragile struct {
	net.Conn

	left *atomic.Int64
}

func (f fragile) Write(p []byte) (int, error) {
	if left := f.left.Add(-int64(len(p))); left < 0 {
		n, _ := f.Conn.Write(p[:max(0, len(p)+int(left))])
		_ = f.Close()
		return n, errors.New("broken on purpose")
	}
	return f.Conn.Write(p)
}

// pair is a server, and streams to it that each carry at most limit bytes.
type pair struct {
	server  *Server
	served  chan *Conn
	limit   func() int64
	streams atomic.Int64
}

func newPair(limit func() int64) *pair {
	p := &pair{served: make(chan *Conn, 8), limit: limit}
	hold := func(c *Conn) {
		p.served <- c
		<-c.Done()
	}
	p.server = &Server{Linger: patient, Serve: hold}
	return p
}

func (p *pair) stream(context.Context, error) (io.ReadWriteCloser, error) {
	p.streams.Add(1)
	ours, theirs := net.Pipe()
	left := &atomic.Int64{}
	left.Store(p.limit())
	go func() { _ = p.server.Take(fragile{theirs, left}) }()
	return fragile{ours, left}, nil
}

func (p *pair) dial(t *testing.T) (client, server *Conn) {
	t.Helper()
	for {
		s, err := p.stream(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		client, err := Dial(t.Context(), s, bufio.NewReader(s), p.stream, patient)
		if err == nil {
			return client, <-p.served
		}
	}
}

func endless() int64 { return 1 << 40 }

// roll returns a number below n.
func roll(n int64) int {
	v, err := rand.Int(rand.Reader, big.NewInt(n))
	if err != nil {
		return 0
	}
	return int(v.Int64())
}

// carry sends bytes from random and returns the checksum of the bytes that arrived at the other end.
func carry(t *testing.T, from, to *Conn, size int) (sent, arrived [32]byte) {
	t.Helper()
	data := make([]byte, size)
	_, _ = rand.Read(data)
	got := make(chan [32]byte, 1)
	go func() {
		h := sha256.New()
		_, _ = io.CopyN(h, to, int64(size))
		got <- [32]byte(h.Sum(nil))
	}()
	for rest := data; len(rest) > 0; {
		n := min(len(rest), 1+roll(100_000))
		if _, err := from.Write(rest[:n]); err != nil {
			t.Errorf("write: %v", err)
			return sha256.Sum256(data), arrived
		}
		rest = rest[n:]
	}
	return sha256.Sum256(data), <-got
}

func Test_Every_Byte_Arrives_Once_Over_Streams_That_Break(t *testing.T) {
	t.Parallel()
	for seed := range 4 {
		p := newPair(func() int64 { return 60 + int64(roll(400_000)) })
		client, server := p.dial(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			if sent, arrived := carry(t, server, client, 4<<20); sent != arrived {
				t.Errorf("seed %d: what the server sent did not arrive", seed)
			}
		}()
		if sent, arrived := carry(t, client, server, 4<<20); sent != arrived {
			t.Errorf("seed %d: what the client sent did not arrive", seed)
		}
		<-done
		if n := p.streams.Load(); n < 20 {
			t.Errorf("seed %d: %d streams for 8 MiB, so none broke", seed, n)
		}
		client.end(ErrClosed)
		server.end(ErrClosed)
	}
}

func Test_Closing_Sends_What_Was_Written(t *testing.T) {
	t.Parallel()
	for _, fromClient := range []bool{true, false} {
		client, server := newPair(endless).dial(t)
		from, to := client, server
		if !fromClient {
			from, to = server, client
		}
		text := bytes.Repeat([]byte("to the last "), 30_000)
		go func() {
			_, _ = from.Write(text)
			_ = from.Close()
		}()
		got, err := io.ReadAll(to)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("from the client %v: read %d bytes and %v, want %d and the end", fromClient, len(got), err, len(text))
		}
		if _, err := from.Write([]byte("x")); err == nil {
			t.Errorf("from the client %v: a closed connection takes more", fromClient)
		}
	}
}

// unwritable is a stream whose writes fail and whose reads return bytes.
type unwritable struct {
	io.Reader

	closed chan struct{}
	once   sync.Once
}

func (u *unwritable) Write([]byte) (int, error) { return 0, errors.New("the other end has gone") }

func (u *unwritable) Close() error {
	u.once.Do(func() { close(u.closed) })
	return nil
}

// The other end wrote, closed the connection and ended, so that this end can no longer write an ack or data. A slow
// caller still reads what the other end wrote.
func Test_Received_Bytes_Can_Be_Read_Slowly_After_A_Failed_Write(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var arrived bytes.Buffer
		want := []byte("to the last byte")
		for _, b := range want {
			h := head(frameData, 1)
			arrived.Write(append(h[:], b))
		}
		end := head(frameEnd, 0)
		arrived.Write(end[:])
		c := newConn(func(why error) { t.Errorf("the stream was given up: %v", why) })
		stream := &unwritable{Reader: &arrived, closed: make(chan struct{})}
		if err := c.attach(stream, bufio.NewReaderSize(stream, 16), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		var got []byte
		for p := make([]byte, 1); ; {
			n, err := c.Read(p)
			got = append(got, p[:n]...)
			if err != nil {
				if !errors.Is(err, io.EOF) || !bytes.Equal(got, want) {
					t.Errorf("read %q and %v, want %q and the end", got, err, want)
				}
				break
			}
			<-time.After(time.Minute)
		}
		<-stream.closed
	})
}

func Test_A_Stream_That_Transfers_No_Bytes_Is_Dropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broke := make(chan error, 1)
		c := newConn(func(why error) { broke <- why })
		ours, theirs := net.Pipe()
		stream := &unwritable{Reader: ours, closed: make(chan struct{})}
		if err := c.attach(stream, bufio.NewReader(stream), 0); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := c.Read(make([]byte, 1))
			ended <- err
		}()
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := <-broke; err == nil {
			t.Error("the stream broke without a reason")
		}
		<-stream.closed
		_ = theirs.Close()
		c.end(ErrClosed)
		if err := <-ended; !errors.Is(err, ErrClosed) {
			t.Errorf("read: %v, want %v", err, ErrClosed)
		}
	})
}

func Test_The_Connection_Of_An_Absent_Client_Ends(t *testing.T) {
	t.Parallel()
	p := newPair(endless)
	p.server.Linger = 50 * time.Millisecond
	client, server := p.dial(t)
	client.end(ErrClosed) // without an end frame
	if _, err := server.Read(make([]byte, 1)); err == nil || errors.Is(err, ErrClosed) {
		t.Errorf("the server reads %v, want why the stream broke", err)
	}
}

func Test_A_Client_Does_Not_Retry_When_The_Server_Ended_The_Connection(t *testing.T) {
	t.Parallel()
	p := newPair(endless)
	client, server := p.dial(t)
	server.end(errors.New("restarted"))
	_, err := client.Read(make([]byte, 1))
	if !errors.Is(err, errForgotten) {
		t.Errorf("the client reads %v, want %v", err, errForgotten)
	}
	if n := p.streams.Load(); n != 2 {
		t.Errorf("%d streams, want the first and one attempt", n)
	}
}

func Test_A_Final_Reason_Ends_The_Connection_At_Once(t *testing.T) {
	t.Parallel()
	p := newPair(endless)
	s, err := p.stream(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	gone := sandbox.Errorf(sandbox.Closed, "the pod was deleted")
	client, err := Dial(t.Context(), s, bufio.NewReader(s), func(context.Context, error) (io.ReadWriteCloser, error) { return nil, gone }, patient)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, gone) {
		t.Errorf("read: %v, want %v", err, gone)
	}
}

func Test_A_Client_That_Comes_Back_Takes_Over_A_Stream_That_Seems_Whole(t *testing.T) {
	t.Parallel()
	p := newPair(endless)
	client, server := p.dial(t)
	go func() { _, _ = io.Copy(server, server) }()
	for range 50 {
		stream, err := p.stream(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		text := []byte("said while it changes")
		back := make(chan error, 1)
		go func() {
			got := make([]byte, len(text))
			_, err := io.ReadFull(client, got)
			if err == nil && !bytes.Equal(got, text) {
				err = errors.New("something else came back: " + string(got))
			}
			back <- err
		}()
		go func() { _, _ = client.Write(text) }()
		_ = stream.Close() // an attempt that fails at once
		client.mu.Lock()
		broken := client.stream
		client.mu.Unlock()
		if broken != nil {
			client.lost(broken, errors.New("as far as the client knows"))
		}
		if err := <-back; err != nil {
			t.Fatal(err)
		}
	}
}

func Test_A_Connection_Other_Than_A_Link_Is_Refused(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"another version": "agent-sandbox link 0\n",
		"something else":  "HTTP/1.1 400 Bad Request",
	} {
		ours, theirs := net.Pipe()
		go func() { _, _ = io.WriteString(theirs, said) }()
		_, err := Dial(t.Context(), ours, bufio.NewReader(ours), nil, patient)
		if sandbox.CodeOf(err) != sandbox.Unavailable {
			t.Errorf("%s: %v, want Unavailable", name, err)
		}
	}
}

// Fuzz_Server sends a server bytes that a process inside could send.
func Fuzz_Server(f *testing.F) {
	k := hello{key: key{1}, fresh: true}
	f.Add(k.encode())
	f.Add(append(k.encode(), 0, 0, 0, 0, 3, 'a', 'b', 'c', frameEnd, 0, 0, 0, 0))
	f.Add(append(k.encode(), ackFrame(1<<63)...))
	f.Add(append(k.encode(), frameData, 0xff, 0xff, 0xff, 0xff))
	k.fresh, k.received = false, 7
	f.Add(k.encode())
	f.Fuzz(func(t *testing.T, said []byte) {
		ended := make(chan struct{})
		s := &Server{Linger: time.Millisecond, Serve: func(c *Conn) {
			defer close(ended)
			n, _ := io.Copy(io.Discard, c)
			if n > int64(len(said)) {
				t.Errorf("%d bytes came out of %d", n, len(said))
			}
		}}
		ours, theirs := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, ours) }()
		go func() {
			_, _ = ours.Write(said)
			_ = ours.Close()
		}()
		if s.Take(theirs) == nil {
			<-ended
		}
	})
}
