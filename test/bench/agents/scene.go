package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent"
	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/bench/internal/rounds"
)

// answer is the model's answer in the form of Anthropic's API.
const answer = `event: message_start
data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"bench","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Done."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":3}}

event: message_stop
data: {"type":"message_stop"}

`

// idle is an agent that reads its prompt and reports that it is done.
const idle = `#!/bin/sh
read -r first; read -r second
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done.","uuid":"u","session_id":"s","usage":{"input_tokens":10,"output_tokens":3}}'
`

// scene has the model and the assistants to measure.
type scene struct {
	dir, url, socket string
	programs         map[string]string // by assistant
	driver           *bwrap.Driver
	pipeline         *agent.Pipeline
	ends             []func() error
	running          string // the assistant that the running request names
	gate             func() // which each request waits for before it is answered; nil: none. Set only while no request runs
}

func newScene(ctx context.Context, claude, hooks string) (_ *scene, err error) {
	s := &scene{programs: map[string]string{"claude": claude}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return s, err
	}
	s.ends = append(s.ends, func() error { return os.RemoveAll(s.dir) })
	s.programs["idle"] = filepath.Join(s.dir, "idle", "agent")
	if err := s.serve(ctx); err != nil {
		return s, err
	}
	files := map[string]string{
		"idle/agent":                          idle,
		"root/connectors/bench.conn.json":     `{"type": "anthropic", "options": {"host": "` + s.url + `", "model": "bench", "key": "$ENV.BENCH_KEY"}, "price": {"input": 1, "output": 1}}`,
		"root/assistants/direct/package.json": `{"name": "direct", "connector": "bench"}`,
		"root/assistants/hooked/package.json": `{"name": "hooked", "connector": "bench"}`,
		"root/assistants/hooked/src/index.js": `function Create(ctx, messages, options) { return { messages } } function Next(ctx, payload, options) { return null }`,
		"root/assistants/idle/package.json":   `{"name": "idle", "connector": "bench", "sandbox": {"command": "claude"}}`,
		"root/assistants/claude/package.json": `{"name": "claude", "connector": "bench", "sandbox": {"command": "claude"}}`,
	}
	for name, text := range files {
		name = filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return s, err
		}
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			return s, err
		}
	}
	return s, s.assemble(ctx, hooks)
}

// serve starts the model, on a port and on a socket.
func (s *scene) serve(ctx context.Context) error {
	s.socket = filepath.Join(s.dir, "model")
	server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	for _, at := range [][2]string{{"tcp", "127.0.0.1:0"}, {"unix", s.socket}} {
		l, err := (&net.ListenConfig{}).Listen(ctx, at[0], at[1])
		if err != nil {
			return err
		}
		if at[0] == "tcp" {
			s.url = "http://" + l.Addr().String()
		}
		served := make(chan error, 1)
		go func() { served <- server.Serve(l) }()
		s.ends = append(s.ends, func() error {
			err := server.Close()
			if end := <-served; !errors.Is(end, http.ErrServerClosed) {
				err = errors.Join(err, end)
			}
			return err
		})
	}
	return nil
}

// ServeHTTP answers at once.
func (s *scene) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		return
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	if s.gate != nil {
		s.gate()
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, answer) // the client may have disconnected
}

// assemble makes the pipeline, whose hooks run in workers of the program hooksProgram.
func (s *scene) assemble(ctx context.Context, hooksProgram string) error {
	root, err := assistant.Open(filepath.Join(s.dir, "root"))
	if err != nil {
		return err
	}
	root.Own = true
	worker, err := filepath.Abs(hooksProgram)
	if err != nil {
		return err
	}
	s.driver = bwrap.New(bwrap.Options{DataDir: filepath.Join(s.dir, "data")})
	s.pipeline, err = agent.New(ctx, agent.Options{
		Assistants: root, StateDir: filepath.Join(s.dir, "store"), Env: []string{"BENCH_KEY=k"}, HooksWorker: []string{worker},
		Isolation: func(*assistant.Assistant) (sandbox.Driver, sandbox.Spec, error) {
			return s.driver, sandbox.Spec{Home: "/nonexistent-home", Env: []string{"PATH=/usr/bin:/bin"}}, nil
		},
		Program: func(string) (args, dirs []string, err error) {
			return []string{s.programs[s.running]}, []string{filepath.Dir(s.programs[s.running])}, nil
		},
	})
	if err != nil {
		return err
	}
	s.ends = append(s.ends, s.pipeline.Close)
	return nil
}

func (s *scene) close() error {
	var errs []error
	for _, end := range slices.Backward(s.ends) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// ask asks an assistant, in a chat of its own.
func (s *scene) ask(ctx context.Context, name string) error {
	r, err := s.pipeline.Run(ctx, agent.Request{User: "bench", Assistant: name, Prompt: message.New(message.User, "Do nothing.")}, func(event.Event) {})
	if err == nil && !r.OK() {
		err = fmt.Errorf("%s: %s: %s", name, r.Outcome, r.Error)
	}
	return err
}

// direct returns the contenders that ask the model.
func (s *scene) direct() []*rounds.Contender {
	const body = `{"model":"bench","stream":true,"max_tokens":100,"messages":[{"role":"user","content":"Do nothing."}]}`
	return []*rounds.Contender{
		{Name: "a request", InRow: 10, Do: func(ctx context.Context) error {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/messages", bytes.NewReader([]byte(body)))
			if err != nil {
				return err
			}
			answered, err := http.DefaultClient.Do(r)
			if err != nil {
				return err
			}
			defer answered.Body.Close()
			_, err = io.Copy(io.Discard, answered.Body)
			return err
		}},
		{Name: "an assistant", Against: "a request", InRow: 10, Do: func(ctx context.Context) error { return s.ask(ctx, "direct") }},
		{Name: "an assistant with hooks", Against: "a request", InRow: 10, Do: func(ctx context.Context) error { return s.ask(ctx, "hooked") }},
	}
}

// sandboxed returns the contenders that run an agent, alone and as an assistant's.
func (s *scene) sandboxed(name string) []*rounds.Contender {
	alone := "alone in bubblewrap"
	return []*rounds.Contender{
		{Name: alone, Do: func(ctx context.Context) error { return s.alone(ctx, name) }},
		{Name: "an assistant", Against: alone, Do: func(ctx context.Context) error { s.running = name; return s.ask(ctx, name) }},
	}
}

// alone runs the agent in a sandbox, with the same prompt and a socket to the model.
func (s *scene) alone(ctx context.Context, name string) error {
	work, err := os.MkdirTemp(s.dir, "work")
	if err != nil {
		return err
	}
	program := s.programs[name]
	box, err := sandbox.Create(ctx, s.driver, sandbox.Spec{
		Workspace: work, Env: []string{"PATH=/usr/bin:/bin"},
		Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{RO: []string{filepath.Dir(program)}, Sockets: []string{s.socket}}},
	})
	if err != nil {
		return err
	}
	res, err := box.RunStdio(ctx, sandbox.Cmd{
		Args: []string{program, "--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json", "--dangerously-skip-permissions", "--model", "bench"},
		Env: []string{
			"ANTHROPIC_UNIX_SOCKET=" + s.socket, "ANTHROPIC_BASE_URL=http://localhost", "ANTHROPIC_API_KEY=k", "IS_SANDBOX=1", "DISABLE_TELEMETRY=1",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CONFIG_DIR=" + filepath.Join(work, "home"),
		},
	}, sandbox.Stdio{Stdin: bytes.NewReader([]byte(`{"type":"user","message":{"role":"user","content":"Do nothing."}}` + "\n\n"))})
	if err == nil && res.Code != 0 {
		err = fmt.Errorf("%s ended with %d", name, res.Code)
	}
	return errors.Join(err, box.Close(context.WithoutCancel(ctx)), os.RemoveAll(work))
}

// crowd sends requests to n assistants at once; the model answers none before all have arrived. It prints the time
// and memory.
func (s *scene) crowd(ctx context.Context, n int) error {
	var before, peak runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var arrived sync.WaitGroup
	arrived.Add(n)
	var once sync.Once
	s.gate = func() {
		arrived.Done()
		arrived.Wait()
		once.Do(func() { runtime.ReadMemStats(&peak) })
	}
	defer func() { s.gate = nil }()
	begin := time.Now()
	errs := make([]error, n)
	var work sync.WaitGroup
	for i := range n {
		work.Go(func() { errs[i] = s.ask(ctx, "direct") })
	}
	work.Wait()
	used := int64(peak.HeapInuse+peak.StackInuse) - int64(before.HeapInuse+before.StackInuse)
	fmt.Printf("%d chats at once, all in their model step: %s each, both ends; answered in %s.\n\n",
		n, sandbox.Bytes(max(used, 0)/int64(n)), time.Since(begin).Round(time.Millisecond))
	return errors.Join(errs...)
}
