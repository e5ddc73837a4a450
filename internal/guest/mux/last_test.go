package mux

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

func Test_The_Last_Write_Closes(t *testing.T) {
	client, server, wire := pair(t)
	near, far := stream(t, client, server)
	const want = 2*maxPayload + 7 // several frames, the last of which closes
	data := bytes.Repeat([]byte("x"), want)
	var got []byte
	var rerr error
	var reading sync.WaitGroup
	reading.Go(func() { got, rerr = io.ReadAll(near) })
	if err := far.WriteLast(data[:5], data[5:]); err != nil {
		t.Fatal(err)
	}
	reading.Wait()
	if rerr != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v; want %d", len(got), rerr, want)
	}
	if _, err := near.Write([]byte("more")); !errors.Is(err, ErrStopped) {
		t.Errorf("writing to who has closed: %v", err)
	}
	said := wire.writes.Load()
	if err := near.Close(); err != nil {
		t.Error(err)
	}
	near, far = stream(t, client, server) // a frame of Close would have been written before
	if n := wire.writes.Load() - said; n != 1 {
		t.Errorf("closing what the other end has closed took %d writes", n-1)
	}
	for _, s := range []*Session{client, server} {
		s.mu.Lock()
		if len(s.streams) != 1 || s.streams[near.ID()] == nil {
			t.Errorf("%d streams are open, want 1", len(s.streams))
		}
		s.mu.Unlock()
	}
	if err := far.Close(); err != nil {
		t.Error(err)
	}
	if err := far.WriteLast([]byte("late"), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("a last write after Close: %v", err)
	}
}

func Test_A_Last_Write_Waits_For_Room(t *testing.T) {
	client, server, _ := pair(t)
	near, far := stream(t, client, server)
	if _, err := far.Write(make([]byte, firstWindow)); err != nil {
		t.Fatal(err)
	}
	other, distant := stream(t, client, server)
	done := make(chan error, 1)
	go func() { done <- far.WriteLast([]byte("end"), nil) }()
	// A writer that waits for room does not block other streams.
	if _, err := distant.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(other, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(near)
	if err != nil || len(got) != firstWindow+3 || string(got[firstWindow:]) != "end" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// gated blocks each write until the test allows it.
type gated struct {
	net.Conn

	asked, open chan struct{}
}

func (g gated) Write(p []byte) (int, error) {
	g.asked <- struct{}{}
	<-g.open
	return g.Conn.Write(p)
}

func Test_Flushed_Frames_Arrive(t *testing.T) {
	a, b := sockets(t)
	slow := gated{b, make(chan struct{}, 8), make(chan struct{})}
	client, server := Client(a, bufio.NewReader(a)), Server(slow, bufio.NewReader(slow))
	defer client.Close()
	_, far := stream(t, client, server)
	near, other := stream(t, client, server)
	var writing sync.WaitGroup
	writing.Go(func() {
		if _, err := far.Write([]byte("first")); err != nil {
			t.Error(err)
		}
	})
	<-slow.asked // the write is in progress; later frames wait for it
	if _, err := other.Write([]byte("second")); err != nil {
		t.Fatal(err)
	}
	flushed := make(chan struct{})
	go func() {
		server.Flush()
		close(flushed)
	}()
	select {
	case <-flushed:
		t.Error("Flush did not wait")
	case <-time.After(20 * time.Millisecond):
	}
	close(slow.open)
	<-flushed
	_ = server.Close()
	got := make([]byte, len("second"))
	if _, err := io.ReadFull(near, got); err != nil || string(got) != "second" {
		t.Errorf("%q, %v", got, err)
	}
	writing.Wait()
	server.Flush() // after the end Flush returns at once
}
