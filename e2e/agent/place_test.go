//go:build linux

// Package agent_test runs the real coding agents through the pipeline of assistants. Only the models behind them are
// scripts.
package agent_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/executor"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/e2e/model"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// place is a sandbox of bubblewrap without a network, in which an agent works.
type place struct {
	work, home, socket string
	program            string // Claude Code
	listener           net.Listener
	box                *sandbox.Sandbox
	seen               func(event.Event) // each event of run; nil: nobody looks
}

func newPlace(t *testing.T) *place {
	t.Helper()
	base, err := os.MkdirTemp("", "agent") // short: a socket's path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	p := &place{work: filepath.Join(base, "work"), home: filepath.Join(base, "home"), socket: filepath.Join(base, "model"), program: claudeCode(t)}
	for _, dir := range []string{p.work, p.home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	spec := sandbox.Spec{
		Workspace: p.work, Home: p.home, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + p.home, "LANG=C.UTF-8"},
		Policy: sandbox.Policy{
			Filesystem: sandbox.Filesystem{RO: []string{filepath.Dir(p.program)}, RW: []string{p.home}, Sockets: []string{p.socket}},
			Limits:     sandbox.Limits{Output: 1 << 30},
		},
	}
	driver := bwrap.New(bwrap.Options{DataDir: filepath.Join(base, "data")})
	// What is not there cannot be let in.
	if p.listener, err = (&net.ListenConfig{}).Listen(t.Context(), "unix", p.socket); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.listener.Close() }) // a server may have closed it
	if p.box, err = sandbox.Create(t.Context(), driver, spec); err != nil {
		required(t, "bwrap", err)
	}
	t.Cleanup(func() {
		if err := p.box.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return p
}

// required fails a test that lacks something that has to be there, and skips it where it need not.
func required(t *testing.T, what string, err error) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), what) {
		t.Fatalf("required, and not available: %v", err)
	}
	t.Skipf("not available: %v", err)
}

// claudeCode is the real program; `make test` installs the npm package and names the folder.
func claudeCode(t *testing.T) string {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	program := filepath.Join(os.Getenv("AGENT_SANDBOX_NPM"), "@anthropic-ai", "claude-code-linux-"+arch, "claude")
	if _, err := os.Stat(program); err != nil {
		required(t, "claude", err)
	}
	return program
}

// serve answers on the place's socket.
func (p *place) serve(t *testing.T, turns []model.Turn) *model.Server {
	t.Helper()
	return model.Serve(t, p.listener, turns)
}

// token is what stands in the place of a key, inside.
const token = "placeholder-5d41402abc4b"

// task is what the place's agent is to do.
func (p *place) task(prompt string) executor.Task {
	return executor.Task{
		Prompt: message.New(message.User, prompt), Program: []string{p.program}, Home: filepath.Join(p.home, "claude"),
		Model: executor.Model{Name: "scripted-1", URL: "http://localhost", Socket: p.socket, Token: token},
	}
}

// run does a task, and folds its events.
func (p *place) run(ctx context.Context, t *testing.T, by executor.Executor, task executor.Task) event.Response {
	t.Helper()
	var fold event.Fold
	err := by.Run(ctx, p.box, task, func(e event.Event) {
		fold.Add(e)
		if p.seen != nil {
			p.seen(e)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return fold.Response()
}
