package mux

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"
)

// against is a session whose other end sends arbitrary frames.
func against(tb testing.TB) (s *Session, other io.ReadWriteCloser) {
	tb.Helper()
	a, b := sockets(tb)
	s = Server(a, bufio.NewReader(a))
	tb.Cleanup(func() {
		_, _ = s.Close(), b.Close()
	})
	return s, b
}

func frames(list ...any) []byte {
	var out []byte
	for _, one := range list {
		switch one := one.(type) {
		case head:
			out = one.appendTo(out)
		case []byte:
			out = append(out, one...)
		}
	}
	return out
}

func Test_A_Violation_Of_The_Protocol_Ends_The_Session(t *testing.T) {
	t.Parallel()
	for name, said := range map[string][]byte{
		"an unknown flag":                frames(head{id: 1, flags: 1 << 6}),
		"a frame that is too long":       frames(head{id: 1, flags: flagOpen, length: maxPayload + 1}),
		"a stream of number 0":           frames(head{flags: flagOpen}),
		"a stream of this end's numbers": frames(head{id: 2, flags: flagOpen}),
		"a stream that is open":          frames(head{id: 1, flags: flagOpen}, head{id: 1, flags: flagOpen}),
		"more than there is room": append(frames(head{id: 1, flags: flagOpen}),
			bytes.Repeat(frames(head{id: 1, length: maxPayload}, make([]byte, maxPayload)), firstWindow/maxPayload+1)...),
		"too much credit":    frames(head{id: 1, flags: flagOpen}, head{id: 1, flags: flagCredit, length: window}),
		"more after its end": frames(head{id: 1, flags: flagOpen | flagEnd}, head{id: 1, length: 1}, []byte("x")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, other := against(t)
			go func() { _, _ = other.Write(said) }()
			<-s.Done()
			if _, err := s.Open(); !errors.Is(err, errProtocol) {
				t.Errorf("%v", err)
			}
		})
	}
}

func Test_Frames_For_A_Forgotten_Stream_Are_Dropped(t *testing.T) {
	t.Parallel()
	s, other := against(t)
	said := frames(head{id: 9, length: 3}, []byte("abc"), head{id: 9, flags: flagCredit, length: maxLength},
		head{id: 9, flags: flagReset}, head{id: 1, flags: flagOpen | flagEnd, length: 1}, []byte("x"))
	if _, err := other.Write(said); err != nil {
		t.Fatal(err)
	}
	stream, err := s.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(stream); string(got) != "x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func Test_A_Missing_Payload_Does_Not_Block_Close(t *testing.T) {
	t.Parallel()
	s, other := against(t)
	if _, err := other.Write(frames(head{id: 1, flags: flagOpen}, head{id: 1, length: maxPayload}, []byte("x"))); err != nil {
		t.Fatal(err)
	}
	stream, err := s.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = stream.Close()
	_ = s.Close()
	<-s.Done()
}

func Test_Small_Pieces_Need_Little_Memory(t *testing.T) {
	t.Parallel()
	var q queue
	for range firstWindow {
		q.add(&piece{data: []byte("x"), peeked: true})
	}
	for range firstWindow / 300 {
		q.add(&piece{data: make([]byte, 300), peeked: true})
	}
	if held := capacity(q); held > 3*q.size {
		t.Errorf("%d bytes are held for %d", held, q.size)
	}
}

func capacity(q queue) (n int) {
	for _, p := range q.pieces {
		n += cap(p.data)
	}
	return n
}

func Fuzz_Frames(f *testing.F) {
	f.Add(frames(head{id: 1, flags: flagOpen, length: 2}, []byte("ab"), head{id: 1, flags: flagCredit, length: 9}, head{id: 1, flags: flagEnd}))
	f.Add(frames(head{id: 3, flags: flagOpen | flagReset | flagStop}, head{id: 3, flags: flagStop}))
	f.Fuzz(func(t *testing.T, said []byte) {
		s, other := against(t)
		go func() {
			for {
				stream, err := s.Accept()
				if err != nil {
					return
				}
				go func() {
					_, _ = io.Copy(stream, stream)
					_ = stream.Close()
				}()
			}
		}()
		go func() { _, _ = io.Copy(io.Discard, other) }()
		_, _ = other.Write(said)
		_ = other.Close()
		<-s.Done()
	})
}
