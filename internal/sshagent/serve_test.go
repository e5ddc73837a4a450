package sshagent

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/agentsocket"
)

// scene is a served agent and what reached the agent behind it, which answers each request with its own bytes.
type scene struct {
	path string
	stop func()

	mu      sync.Mutex
	reached [][]byte
	refused []string
}

func listen(t *testing.T, name string) (net.Listener, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	return l, path
}

func serve(t *testing.T) *scene {
	t.Helper()
	s := &scene{}
	agent, agentPath := listen(t, "agent")
	var answering sync.WaitGroup
	answering.Go(func() {
		for {
			conn, err := agent.Accept()
			if err != nil {
				return
			}
			answering.Go(func() {
				defer conn.Close()
				for {
					message, err := readMessage(conn)
					if err != nil {
						return
					}
					s.mu.Lock()
					s.reached = append(s.reached, message)
					s.mu.Unlock()
					if writeMessage(conn, message) != nil {
						return
					}
				}
			})
		}
	})
	l, path := listen(t, "served")
	s.path = path
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Serve(ctx, l, agentsocket.Options{
			Dial: func(ctx context.Context) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", agentPath)
			},
			Refused: func(what string) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.refused = append(s.refused, what)
			},
		})
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		<-done
		_ = agent.Close()
		answering.Wait()
	})
	t.Cleanup(s.stop)
	return s
}

func (s *scene) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", s.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func texts(list ...string) []byte {
	var out []byte
	for _, s := range list {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(s))), s...)
	}
	return out
}

func message(number byte, rest ...[]byte) []byte {
	return append([]byte{number}, slices.Concat(rest...)...)
}

func Test_Only_Requests_That_Change_Nothing_Reach_The_Agent(t *testing.T) {
	for _, c := range []struct {
		name    string
		request []byte
		passes  bool
	}{
		{"list", message(requestIdentities), true},
		{"list with a rest", message(requestIdentities, []byte{0}), false},
		{"sign", message(signRequest, texts("key", "data"), []byte{0, 0, 0, 2}), true},
		{"sign without flags", message(signRequest, texts("key", "data")), false},
		{"sign with a rest", message(signRequest, texts("key", "data"), []byte{0, 0, 0, 2, 1}), false},
		{"sign with a length beyond the end", message(signRequest, []byte{0, 0, 1, 0, 'k'}), false},
		{"sign with a length beyond all", message(signRequest, []byte{255, 255, 255, 255, 'k'}), false},
		{"bind", message(extension, texts(sessionBind, "host", "session", "signature"), []byte{0}), true},
		{"bind with a rest", message(extension, texts(sessionBind, "host", "session", "signature"), []byte{0, 0}), false},
		{"bind without the rest", message(extension, texts(sessionBind)), false},
		{"another extension", message(extension, texts("query"), nil), false},
		{"an extension without a name", message(extension), false},
		{"add", message(addIdentity, texts("ssh-ed25519", "p", "s", "c")), false},
		{"add with constraints", message(addIDConstrained, texts("ssh-ed25519", "p", "s", "c")), false},
		{"remove", message(removeIdentity, texts("key")), false},
		{"remove all", message(removeAllIdentities), false},
		{"add a smartcard", message(addSmartcardKey, texts("id", "pin")), false},
		{"add a smartcard with constraints", message(addSmartcardKeyConstrain, texts("id", "pin")), false},
		{"remove a smartcard", message(removeSmartcardKey, texts("id", "pin")), false},
		{"lock", message(lock, texts("x")), false},
		{"unlock", message(unlock, texts("x")), false},
		{"list of protocol 1", message(1), false},
		{"remove all of protocol 1", message(9), false},
		{"an unknown number", message(255), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t)
			conn := s.dial(t)
			for range 2 { // a refused request does not end the connection
				if err := writeMessage(conn, c.request); err != nil {
					t.Fatal(err)
				}
				got, err := readMessage(conn)
				want := c.request
				if !c.passes {
					want = []byte{failure}
				}
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("the answer is %q, %v; want %q", got, err, want)
				}
			}
			s.stop()
			if passed := len(s.reached) == 2; passed != c.passes || len(s.refused) == 2 == c.passes {
				t.Errorf("%q reached the agent, and %q were refused", s.reached, s.refused)
			}
		})
	}
}

func Test_Messages_Are_Bounded(t *testing.T) {
	s := serve(t)
	long := message(signRequest, texts("k", string(make([]byte, maxMessage-14))), []byte{0, 0, 0, 0})
	conn := s.dial(t)
	if err := writeMessage(conn, long); err != nil {
		t.Fatal(err)
	}
	if got, err := readMessage(conn); err != nil || len(got) != maxMessage {
		t.Errorf("a message of %d bytes: %d, %v", len(long), len(got), err)
	}
	for _, header := range [][]byte{{0, 0, 0, 0}, {0, 4, 0, 1}, {255, 255, 255, 255}} {
		conn := s.dial(t)
		if _, err := conn.Write(header); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("length %v: %d bytes, %v; want the end", header, n, err)
		}
	}
}

func Test_Connections_Are_Bounded_And_End_With_The_Server(t *testing.T) {
	s := serve(t)
	var open []net.Conn
	for range agentsocket.MaxConnections {
		conn := s.dial(t)
		if err := writeMessage(conn, message(requestIdentities)); err != nil {
			t.Fatal(err)
		}
		if _, err := readMessage(conn); err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
	}
	waiting := s.dial(t)
	if err := writeMessage(waiting, message(requestIdentities)); err != nil {
		t.Fatal(err)
	}
	if err := waiting.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := waiting.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("one more connection is served: %d, %v", n, err)
	}
	if err := open[0].Close(); err != nil {
		t.Fatal(err)
	}
	if err := waiting.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := readMessage(waiting); err != nil {
		t.Errorf("after another has ended: %v", err)
	}
	s.stop() // waits for all
	for _, conn := range append(open[1:], waiting) {
		if _, err := io.ReadAll(conn); err != nil {
			t.Error(err)
		}
	}
}

func Test_Without_An_Agent_Requests_Fail(t *testing.T) {
	l, path := listen(t, "served")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Serve(ctx, l, agentsocket.Options{
			Dial:    func(context.Context) (net.Conn, error) { return nil, io.EOF },
			Refused: func(what string) { t.Errorf("%s was refused", what) },
		})
	}()
	conn := (&scene{path: path}).dial(t)
	if err := writeMessage(conn, message(requestIdentities)); err != nil {
		t.Fatal(err)
	}
	if got, err := readMessage(conn); err != nil || !bytes.Equal(got, []byte{failure}) {
		t.Errorf("%q, %v", got, err)
	}
	cancel()
	<-done
}

func FuzzIsPermitted(f *testing.F) {
	f.Add(message(signRequest, texts("key", "data"), []byte{0, 0, 0, 2}))
	f.Add(message(extension, texts(sessionBind, "host", "session", "signature"), []byte{0}))
	f.Fuzz(func(t *testing.T, m []byte) {
		if len(m) > 0 && isPermitted(m) && !slices.Contains([]byte{requestIdentities, signRequest, extension}, m[0]) {
			t.Errorf("%q passes", m)
		}
	})
}
