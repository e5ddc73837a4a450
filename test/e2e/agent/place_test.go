//go:build linux

// Package agent_test runs the real coding agents through the pipeline of assistants. Scripts replace the models.
package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/backend/docker"
	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/internal/agent/cursor"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
)

// place is a sandbox without a network in which an agent works.
type place struct {
	work, home string
	socket     string            // the address of the model inside; "": modelAddress
	programs   map[string]string // by the executor's name
	box        *sandbox.Sandbox
	walls      []string          // the processes of an empty sandbox
	seen       func(event.Event) // called with each event of run; nil: not called
}

// newPlace creates a place in a sandbox of bubblewrap.
func newPlace(t *testing.T) *place {
	t.Helper()
	p := open(t, "bwrap")
	p.walls = p.running(t)
	return p
}

// open creates a place with that driver.
func open(t *testing.T, backend string) *place {
	t.Helper()
	base := t.TempDir()
	p := &place{work: filepath.Join(base, "work"), home: filepath.Join(base, "home"), programs: agentPrograms(t)}
	for _, dir := range []string{p.work, p.home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	spec := sandbox.Spec{
		Workspace: p.work, Home: p.home, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + p.home, "LANG=C.UTF-8"}, Resident: true,
		Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{RW: []string{p.home, filepath.Join(p.home, cursor.Agent{}.Name(), cursor.Agent{}.SettingsDir())}}, Limits: sandbox.Limits{Output: 1 << 30}},
	}
	for _, program := range p.programs {
		spec.Policy.Filesystem.RO = append(spec.Policy.Filesystem.RO, filepath.Dir(program))
	}
	var driver sandbox.Driver = bwrap.New(bwrap.Options{DataDir: filepath.Join(base, "data")})
	switch backend {
	case "docker":
		spec.Image = image
		driver = docker.New(docker.Options{Env: os.Environ(), DataDir: filepath.Join(base, "data")})
	case "kube":
		// No file of this host is visible in it.
		spec.Image, spec.Home, p.home = image, "", "/tmp"
		spec.Policy.Filesystem = sandbox.Filesystem{}
		spec.Policy.Limits.Memory, spec.Policy.Limits.Tmp = 3<<30, 1<<30
		driver = kube.New(kube.Options{Env: os.Environ(), DataDir: filepath.Join(base, "data")})
	}
	var err error
	if p.box, err = sandbox.Create(t.Context(), driver, spec); err != nil {
		required(t, backend, err)
	}
	t.Cleanup(func() {
		if err := p.box.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if _, err := p.box.Run(t.Context(), sandbox.Cmd{Args: []string{"true"}}); err != nil {
		t.Fatal(err)
	}
	return p
}

// image is the image of containers and pods.
const image = "debian:bookworm-slim"

// required fails the test if SANDBOX_REQUIRE names the missing part, and skips it otherwise.
func required(t *testing.T, what string, err error) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), what) {
		t.Fatalf("required, and not available: %v", err)
	}
	t.Skipf("not available: %v", err)
}

// agentPrograms are the real agents; `make test` installs their npm packages and names the folder.
func agentPrograms(t *testing.T) map[string]string {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	npm := os.Getenv("AGENT_SANDBOX_NPM")
	all := map[string]string{
		"claude": filepath.Join(npm, "@anthropic-ai", "claude-code-linux-"+arch, "claude"),
		"codex":  filepath.Join(npm, "@openai", "codex-linux-"+arch, "vendor", machine+"-unknown-linux-musl", "bin", "codex"),
	}
	for _, program := range all {
		if _, err := os.Stat(program); err != nil {
			required(t, "claude", err)
		}
	}
	return all
}

// serve answers the requests of agents in the sandbox.
func (p *place) serve(t *testing.T, turns []model.Turn) *model.Server {
	t.Helper()
	address := modelAddress
	if p.socket != "" {
		address = "unix:" + p.socket
	}
	l, err := p.box.Listen(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	return model.Serve(t, l, turns)
}

// modelAddress is the address of the model inside.
const modelAddress = "127.0.0.1:4000"

// token is the placeholder for the key inside.
const token = "placeholder-5d41402abc4b"

// task returns a task for an agent.
func (p *place) task(by executor.Executor, prompt string) executor.Task {
	return executor.Task{
		Prompt: message.New(message.User, prompt), Program: []string{p.programs[by.Name()]}, Home: filepath.Join(p.home, by.Name()),
		Model: executor.Model{Name: "scripted-1", URL: "http://" + modelAddress, Socket: p.socket, Token: token},
	}
}

// run runs a task, and folds its events.
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
