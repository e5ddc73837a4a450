package model_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/model"
)

var order3 = []connector.Protocol{connector.OpenAI, connector.Responses, connector.Anthropic}

// A whole call to a server in the same process that answers at once.
func Benchmark_Call(b *testing.B) {
	for _, p := range order3 {
		b.Run(string(p), func(b *testing.B) {
			s := serve(b, protocols[p])
			c := client(b, model.Options{})
			req := hello(s.connector(p))
			b.ReportAllocs()
			for b.Loop() {
				if _, r := run(b.Context(), b, c, req); !r.OK() {
					b.Fatal(r.Error)
				}
			}
		})
	}
}

// The same request and answer with only the standard library, to be subtracted.
func Benchmark_Plain_HTTP(b *testing.B) {
	for _, p := range order3 {
		b.Run(string(p), func(b *testing.B) {
			s := serve(b, protocols[p])
			b.ReportAllocs()
			for b.Loop() {
				req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, s.URL, strings.NewReader(`{"model":"m1"}`))
				if err != nil {
					b.Fatal(err)
				}
				res, err := s.Client().Do(req)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				if err := res.Body.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A history of five megabytes, which is sent with each turn.
func Benchmark_Five_Megabytes(b *testing.B) {
	for _, p := range order3 {
		b.Run(string(p), func(b *testing.B) {
			s := serve(b, protocols[p])
			c := client(b, model.Options{})
			req := hello(s.connector(p))
			for range 50 {
				req.Messages = append(req.Messages, message.New(message.Assistant, "yes"), message.New(message.User, strings.Repeat("word word ", 10<<10)))
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, r := run(b.Context(), b, c, req); !r.OK() {
					b.Fatal(r.Error)
				}
			}
		})
	}
}

// A hundred concurrent streams, each in the middle of its answer: heap bytes per stream, with the server's part.
func Benchmark_A_Hundred_Streams(b *testing.B) {
	for _, p := range order3 {
		b.Run(string(p), func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(float64(heldBy(b, p, 100))/100, "B/stream")
			}
		})
	}
}

func heldBy(b *testing.B, p connector.Protocol, n int) int64 {
	b.Helper()
	release, inside := make(chan struct{}), make(chan struct{}, n)
	answer := protocols[p]
	s := serve(b, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": at work\n\n")
		_ = http.NewResponseController(w).Flush()
		inside <- struct{}{}
		<-release
		answer(w, r)
	})
	c := client(b, model.Options{})
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			var fold event.Fold
			for e, err := range c.Stream(b.Context(), hello(s.connector(p))) {
				if err != nil {
					b.Error(err)
				}
				fold.Add(e)
			}
			if !fold.Response().OK() {
				b.Error(fold.Response().Error)
			}
		})
	}
	for range n {
		<-inside
	}
	runtime.GC()
	runtime.ReadMemStats(&during)
	close(release)
	wg.Wait()
	if err := c.Close(); err != nil {
		b.Error(err)
	}
	s.Close()
	return int64(during.HeapAlloc+during.StackInuse) - int64(before.HeapAlloc+before.StackInuse)
}
