package hook_test

import (
	"testing"
	"testing/fstest"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
)

var places = map[string]func() hook.Options{
	"process": inProcess,
	"worker":  func() hook.Options { return hook.Options{Worker: workerProgram} },
}

// The cost of a hook that does nothing.
func BenchmarkCreate(b *testing.B) {
	for name, options := range places {
		b.Run(name, func(b *testing.B) {
			s := compile(b, newEngine(b, options()), "src/index.ts", "export function Create(ctx, messages) { return { messages } }")
			in := []message.Message{message.New(message.User, "hello")}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Create(b.Context(), &hook.Request{}, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The additional cost of each call of the host.
func BenchmarkLog(b *testing.B) {
	for name, options := range places {
		b.Run(name, func(b *testing.B) {
			s := compile(b, newEngine(b, options()), "src/index.ts", "export function Create(ctx) { for (let i = 0; i < 1000; i++) log.Info('x') }")
			for b.Loop() {
				if _, err := s.Create(b.Context(), &hook.Request{}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for name, options := range places {
		b.Run(name, func(b *testing.B) {
			e := newEngine(b, options())
			for i := 0; b.Loop(); i++ {
				text := "export function Create(ctx: any, messages: any[]) { return { messages } }//" + string(rune('a'+i%26)) + string(rune('a'+i/26%26))
				if _, err := e.Compile(b.Context(), fstest.MapFS{"a.ts": {Data: []byte(text)}}, "a.ts"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The cost for a request that starts a worker.
func BenchmarkFirst(b *testing.B) {
	for b.Loop() {
		e := inWorkers(b, hook.Limits{})
		s := compile(b, e, "a.ts", "export function Create() {}")
		if _, err := s.Create(b.Context(), &hook.Request{}, nil); err != nil {
			b.Fatal(err)
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
