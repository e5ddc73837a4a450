package store_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
)

func filled(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "store")
	s, err := store.Open(b.Context(), dir, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for range 1000 {
		if err := request(b.Context(), s, store.NewID(time.Now())); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

// Open is what every start of 'agent run' pays: open, one statement, close.
func Benchmark_Open(b *testing.B) {
	dir := filled(b)
	for _, c := range []struct {
		name  string
		close bool
	}{{"and the last one closes", true}, {"while another has it open", false}} {
		b.Run(c.name, func(b *testing.B) {
			if !c.close {
				s, err := store.Open(b.Context(), dir, store.Options{})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
			}
			for b.Loop() {
				s, err := store.Open(b.Context(), dir, store.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := s.Chat(b.Context(), "ann", "c1"); err == nil {
					b.Fatal("a chat that is not there")
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func Benchmark_Booking(b *testing.B) {
	s, err := store.Open(b.Context(), filled(b), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.Run("begin and finish a run", func(b *testing.B) {
		for b.Loop() {
			r, err := s.Begin(b.Context(), store.Run{User: "bob", Assistant: "coder", Model: "v3"}, store.Limits{Requests: 3, Tokens: 1 << 60, USD: 1e8})
			if err != nil {
				b.Fatal(err)
			}
			if err := r.Finish(b.Context(), event.Response{Outcome: event.Success, Usage: event.Usage{Input: 1}}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append a turn", func(b *testing.B) {
		c, err := s.Converse(b.Context(), store.Request{User: "ann", Chat: "c1", Assistant: "coder"})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		turn := store.Turn{Messages: []message.Message{message.New(message.User, "hello"), message.New(message.Assistant, "yes")}}
		for b.Loop() {
			if err := c.Append(b.Context(), turn); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("open and close a workspace", func(b *testing.B) {
		for b.Loop() {
			w, err := s.OpenWorkspace(b.Context(), "ann", "c1", store.Limits{})
			if err != nil {
				b.Fatal(err)
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
