//go:build linux

package persistent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/backend/docker"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// image is the image of the containers in these tests.
const image = "busybox:latest"

// name is the name of a place's sandbox.
const name = "victim"

// place is a user's home and project, with an engine if host is set.
type place struct {
	backend    string
	base, work string
	data       string
	mark       string // an argument that only processes of this test have
	env        []string
	host       string          // the engine's address; "": no engine
	alone      bool            // no other test uses this engine
	containers map[string]bool // all containers that ever existed
}

func newPlace(t *testing.T, backend, host string) *place {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{
		backend: backend, base: base, work: filepath.Join(base, "work"), data: filepath.Join(base, "data", "agent-sandbox"),
		mark: fmt.Sprintf("8%d%d.5", os.Getpid(), time.Now().UnixNano()%1e6), host: host, containers: map[string]bool{},
	}
	for _, dir := range []string{"home", "work", "data", "tmp", "run"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.env = []string{
		"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin", "HOME=" + filepath.Join(base, "home"), "LANG=C.UTF-8",
		"XDG_DATA_HOME=" + filepath.Join(base, "data"), "TMPDIR=" + filepath.Join(base, "tmp"),
		"XDG_RUNTIME_DIR=" + filepath.Join(base, "run"), "PERSISTENT_MARK=" + p.mark,
	}
	if host != "" {
		p.env = append(p.env, "DOCKER_HOST="+host)
	}
	return p
}

// driver returns the driver of the command, with the command as keeper.
func (p *place) driver() *persist.Driver {
	var inner sandbox.Driver = bwrap.New(bwrap.Options{DataDir: p.data})
	if p.backend == "docker" {
		inner = docker.New(docker.Options{Env: p.env, DataDir: p.data, Image: image})
	}
	return &persist.Driver{Inner: inner, Store: persist.Store{Dir: filepath.Join(p.data, "sandboxes")}, Keeper: []string{command, "keep"}}
}

// create creates the sandbox.
func (p *place) create(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(time.Minute))
	defer cancel()
	spec := sandbox.Spec{
		Name: name, Workspace: p.work, Env: p.env,
		Policy: sandbox.Policy{Env: sandbox.Env{Pass: []string{"PERSISTENT_MARK"}}},
	}
	if p.backend == "docker" {
		spec.Image = image
	}
	box, err := sandbox.Create(ctx, p.driver(), spec)
	if err == nil {
		err = box.Detach()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// prepare returns a call of the command.
func (p *place) prepare(args ...string) *exec.Cmd {
	cmd := exec.Command(command, args...) //nolint:noctx // killed by hand
	cmd.Env, cmd.Dir = p.env, p.work
	return cmd
}

// run calls the command, with a time limit of a minute.
func (p *place) run(args ...string) error {
	cmd := p.prepare(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return err
	}
	late := time.AfterFunc(deadline.Scale(time.Minute), func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%q: %w: %s", args, err, &out)
	}
	return nil
}

// works starts the sandbox if it is stopped, and runs a command in it.
func (p *place) works() error {
	err := p.run("exec", "--in", name, "--", "true")
	if err == nil || !strings.Contains(err.Error(), "is stopped") {
		return err
	}
	if err := p.run("start", name); err != nil && !strings.Contains(err.Error(), "runs already") {
		return err
	}
	return p.run("exec", "--in", name, "--", "true")
}

// busy starts a command that has processes of every kind: a child, an orphan, and one with its own session. It
// returns when they run, or when the command has ended.
func (p *place) busy() (*exec.Cmd, error) {
	cmd := p.prepare("exec", "--in", name, "--", "sh", "-c",
		"setsid sleep "+p.mark+" & (sleep "+p.mark+" &) ; sh -c 'trap : TERM; sleep "+p.mark+" & echo started; wait' & sleep "+p.mark)
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd.Stdout = w
	if err := errors.Join(cmd.Start(), w.Close()); err != nil {
		return nil, err
	}
	_, err = r.Read(make([]byte, 16)) // io.EOF is an end, too
	if err != nil {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("busy: %w: %w", err, cmd.Wait())
	}
	return cmd, nil
}
