package mux

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counted counts the writes to a connection.
type counted struct {
	net.Conn

	writes atomic.Int64
}

func (c *counted) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// sockets returns two ends of a socket pair.
func sockets(tb testing.TB) (a, b *counted) {
	tb.Helper()
	l, err := net.Listen("unix", tb.TempDir()+"/s") //nolint:noctx // it is there at once
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	got := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		got <- c
	}()
	near, err := (&net.Dialer{}).DialContext(context.Background(), "unix", l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	return &counted{Conn: near}, &counted{Conn: <-got}
}

// pair returns the two ends of a session.
func pair(tb testing.TB) (client, server *Session, near *counted) {
	tb.Helper()
	a, b := sockets(tb)
	client, server = Client(a, bufio.NewReader(a)), Server(b, bufio.NewReader(b))
	tb.Cleanup(func() {
		_, _ = client.Close(), server.Close()
	})
	return client, server, a
}

// stream returns the two ends of a stream.
func stream(tb testing.TB, client, server *Session) (near, far *Stream) {
	tb.Helper()
	near, err := client.Open()
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := near.Write([]byte("hello")); err != nil {
		tb.Fatal(err)
	}
	if far, err = server.Accept(); err != nil {
		tb.Fatal(err)
	}
	if got := make([]byte, 5); near.ID() != far.ID() {
		tb.Fatalf("%d and %d", near.ID(), far.ID())
	} else if _, err := io.ReadFull(far, got); err != nil || string(got) != "hello" {
		tb.Fatalf("%q, %v", got, err)
	}
	return near, far
}

func random(n int) []byte {
	r := rand.NewChaCha8([32]byte{1})
	out := make([]byte, n)
	_, _ = r.Read(out)
	return out
}

func Test_Many_Streams_Carry_Everything_Both_Ways(t *testing.T) {
	t.Parallel()
	client, server, _ := pair(t)
	content := random(3*window + 12345) // which Read and WriteTo both deliver
	var all sync.WaitGroup
	all.Go(func() {
		for {
			s, err := server.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				if _, err := io.Copy(s, s); err != nil {
					t.Error(err)
				}
				_ = s.CloseWrite()
			})
		}
	})
	var clients sync.WaitGroup
	for i := range 40 {
		part := content[:len(content)/(i+1)]
		clients.Go(func() {
			s, err := client.Open()
			if err != nil {
				t.Error(err)
				return
			}
			go func() {
				for rest, n := part, 1; len(rest) > 0; n = n*3%100_000 + 1 {
					n = min(n, len(rest))
					if _, err := s.Write(rest[:n]); err != nil {
						t.Error(err)
						return
					}
					rest = rest[n:]
				}
				_ = s.CloseWrite()
			}()
			var got []byte
			if i%2 == 0 {
				got, err = io.ReadAll(s)
			} else {
				var b bytes.Buffer
				_, err = s.WriteTo(&b)
				got = b.Bytes()
			}
			if err != nil || !bytes.Equal(got, part) {
				t.Errorf("%d of %d bytes, %v", len(got), len(part), err)
			}
		})
	}
	clients.Wait()
	for _, s := range []*Session{client, server} {
		s.mu.Lock()
		if len(s.streams) > 0 || s.theirs != 0 {
			t.Errorf("%d streams are left, %d of the other end's", len(s.streams), s.theirs)
		}
		s.mu.Unlock()
	}
	_ = client.Close()
	all.Wait()
}

func Test_Each_Direction_Ends_On_Its_Own(t *testing.T) {
	t.Parallel()
	client, server, _ := pair(t)
	near, far := stream(t, client, server)
	if err := near.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := near.Write([]byte("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("a write after the end: %v", err)
	}
	if n, err := far.Read(make([]byte, 1)); n != 0 || err != io.EOF { //nolint:errorlint // as io.Reader wants it
		t.Errorf("%d, %v", n, err)
	}
	if _, err := far.Write([]byte("late")); err != nil {
		t.Fatal(err)
	}
	_ = far.Close()
	if got, err := io.ReadAll(near); string(got) != "late" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func Test_An_End_Without_A_Byte_Is_Reported(t *testing.T) {
	t.Parallel()
	client, server, _ := pair(t)
	near, err := client.Open()
	if err != nil {
		t.Fatal(err)
	}
	_ = near.CloseWrite()
	far, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(far); len(got) > 0 || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func Test_A_Close_Delivers_And_Stops(t *testing.T) {
	t.Parallel()
	client, server, _ := pair(t)
	near, far := stream(t, client, server)
	if _, err := near.Write([]byte("last words")); err != nil {
		t.Fatal(err)
	}
	_ = near.Close()
	_ = near.Close()
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
	if got, err := io.ReadAll(far); string(got) != "last words" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := far.Write([]byte("x")); !errors.Is(err, ErrStopped) {
		t.Errorf("%v", err)
	}
	_ = far.Close()
	again, other := stream(t, client, server) // the session continues
	_, _ = again.Close(), other.Close()
}

func Test_A_Blocked_Write_Ends_When_The_Reader_Closes(t *testing.T) {
	t.Parallel()
	client, server, _ := pair(t)
	near, far := stream(t, client, server)
	got := make(chan error, 1)
	go func() {
		_, err := near.Write(make([]byte, 2*window))
		got <- err
	}()
	if _, err := io.ReadFull(far, make([]byte, firstWindow)); err != nil {
		t.Fatal(err)
	}
	_ = far.Close()
	if err := <-got; !errors.Is(err, ErrStopped) {
		t.Errorf("%v", err)
	}
}

func Test_A_Reset_Comes_After_What_Was_Written(t *testing.T) {
	t.Parallel()
	client, server, _ := pair(t)
	near, far := stream(t, client, server)
	if _, err := near.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	near.Reset()
	if got, err := io.ReadAll(far); string(got) != "half" || !errors.Is(err, ErrReset) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := far.Write([]byte("x")); !errors.Is(err, ErrReset) {
		t.Errorf("%v", err)
	}
}

func Test_A_Close_In_The_Middle_Of_A_Write_Breaks_Nothing(t *testing.T) {
	t.Parallel()
	client, server, _ := pair(t)
	for range 300 {
		near, far := stream(t, client, server)
		var all sync.WaitGroup
		all.Go(func() {
			for {
				if _, err := near.Write(make([]byte, 3000)); err != nil {
					return
				}
			}
		})
		all.Go(func() { _, _ = io.Copy(io.Discard, far) })
		all.Go(func() { _ = near.Close() })
		all.Wait()
		_ = far.Close()
	}
	near, far := stream(t, client, server)
	_, _ = near.Close(), far.Close()
}

func Test_Deadlines_End_What_Waits(t *testing.T) {
	t.Parallel()
	client, server, _ := pair(t)
	near, far := stream(t, client, server)
	_ = near.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
	_ = near.SetDeadline(time.Time{})
	waits := make(chan error, 2)
	go func() {
		_, err := near.Read(make([]byte, 1))
		waits <- err
	}()
	go func() {
		_, err := near.Write(make([]byte, 2*window))
		waits <- err
	}()
	_ = near.SetDeadline(time.Unix(1, 0))
	for range 2 {
		if err := <-waits; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%v", err)
		}
	}
	_ = near.SetDeadline(time.Time{})
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(near, make([]byte, 1)); err != nil {
		t.Errorf("after the deadline was lifted: %v", err)
	}
}

func Test_The_End_Of_A_Session_Ends_Its_Streams(t *testing.T) {
	t.Parallel()
	client, server, _ := pair(t)
	near, far := stream(t, client, server)
	if _, err := near.Write([]byte("on its way")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(far, make([]byte, 2)); err != nil {
		t.Fatal(err)
	}
	waits := make(chan error, 2)
	go func() {
		_, err := near.Read(make([]byte, 1))
		waits <- err
	}()
	go func() {
		_, err := client.Accept()
		waits <- err
	}()
	_ = server.Close()
	for range 2 {
		if err := <-waits; !errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
	}
	<-client.Done()
	if _, err := client.Open(); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
	if got, err := io.ReadAll(far); string(got) != " its way" || !errors.Is(err, ErrClosed) {
		t.Errorf("%q, %v: not what had arrived", got, err)
	}
	_ = client.Close()
}

func Test_Streams_Beyond_The_Backlog_Are_Refused(t *testing.T) {
	t.Parallel()
	client, server, _ := pair(t)
	var all []*Stream
	for range maxBacklog + 1 {
		s, err := client.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if _, err := all[maxBacklog].Read(make([]byte, 1)); !errors.Is(err, ErrReset) {
		t.Errorf("%v", err)
	}
	first, err := server.Accept()
	if err != nil || first.ID() != all[0].ID() {
		t.Errorf("%v", err)
	}
	near, err := client.Open()
	if err == nil {
		_, err = near.Write([]byte("y"))
	}
	if err != nil {
		t.Errorf("room again: %v", err)
	}
}

func Test_Frames_Sent_Together_Leave_In_One_Write(t *testing.T) {
	t.Parallel()
	client, server, conn := pair(t)
	a, err := client.Open()
	if err != nil {
		t.Fatal(err)
	}
	b, err := client.Open()
	if err != nil {
		t.Fatal(err)
	}
	err = client.Together(func() error {
		for range 10 {
			for _, s := range []*Stream{a, b} {
				if _, err := s.Write([]byte("word ")); err != nil {
					return err
				}
			}
		}
		return a.CloseWrite()
	})
	if n := conn.writes.Load(); err != nil || n != 1 {
		t.Errorf("%d writes, %v", n, err)
	}
	far, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(far); len(got) != 50 || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	// A goroutine that needs the other end's answer in between is not delayed.
	go func() { _, _ = io.Copy(io.Discard, far) }()
	other, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, other) }()
	if err := client.Together(func() error {
		_, err := b.Write(make([]byte, 4*window))
		return err
	}); err != nil {
		t.Error(err)
	}
}
