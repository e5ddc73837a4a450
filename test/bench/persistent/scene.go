package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/backend/docker"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/bench/internal/rounds"
)

// scene is a user with a project, a persistent sandbox of each kind, and a container of the engine.
type scene struct {
	base, work, data, file string
	command, image, peer   string
	size                   int
	env                    []string
	made                   int

	boxes map[string]*sandbox.Sandbox // by backend
	warm  *persist.Driver
}

func newScene(command, image string, size int) (*scene, error) {
	base, err := os.MkdirTemp("", "persistent-bench-")
	if err != nil {
		return nil, err
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return nil, err
	}
	s := &scene{
		base: base, work: filepath.Join(base, "work"), data: filepath.Join(base, "data", "agent-sandbox"), file: filepath.Join(base, "file"),
		image: image, peer: fmt.Sprintf("persistent-bench-%d", os.Getpid()), size: size, boxes: map[string]*sandbox.Sandbox{},
	}
	s.env = append(os.Environ(), "HOME="+filepath.Join(base, "home"), "XDG_DATA_HOME="+filepath.Join(base, "data"))
	s.command, err = filepath.Abs(command)
	for _, dir := range []string{"work", "home", "data"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(base, dir), 0o755))
	}
	return s, errors.Join(err, os.WriteFile(s.file, make([]byte, size<<20), 0o644))
}

func (s *scene) close() {
	ctx := context.Background()
	for _, box := range s.boxes {
		if err := box.Close(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if s.warm != nil {
		spares, _ := s.warm.Store.Spares()
		for _, spare := range spares {
			_ = s.warm.Destroy(ctx, spare.ID) // the engine would remove it by itself, later
		}
	}
	_ = s.docker(ctx, "rm", "-f", s.peer) // it may not have been created
	_ = os.RemoveAll(s.base)
}

func (s *scene) driver(backend string) *persist.Driver {
	var inner sandbox.Driver = bwrap.New(bwrap.Options{DataDir: s.data})
	if backend == "docker" {
		inner = docker.New(docker.Options{Env: s.env, DataDir: s.data, Image: s.image})
	}
	return &persist.Driver{Inner: inner, Store: persist.Store{Dir: filepath.Join(s.data, "sandboxes")}, Keeper: []string{s.command, "keep"}}
}

func (s *scene) spec(backend, name string) sandbox.Spec {
	spec := sandbox.Spec{Name: name, Workspace: s.work, Env: s.env}
	if backend == "docker" {
		spec.Image = s.image
	}
	return spec
}

// open starts the processes that run during the whole measurement.
func (s *scene) open(ctx context.Context) error {
	if err := s.docker(ctx, "run", "-d", "--init", "--network", "none", "--name", s.peer, s.image, "sleep", "100000"); err != nil {
		return err
	}
	for _, backend := range backends() {
		box, err := sandbox.Create(ctx, s.driver(backend), s.spec(backend, "open-"+backend))
		if err != nil {
			return err
		}
		s.boxes[backend] = box
	}
	return nil
}

// backends returns the measured backends, in this order.
func backends() []string { return []string{"bwrap", "docker"} }

// commands returns the lines of the table of commands.
func (s *scene) commands() []*rounds.Contender {
	const peer = "docker exec true"
	all := []*rounds.Contender{{Name: peer, Do: func(ctx context.Context) error { return s.docker(ctx, "exec", s.peer, "true") }}}
	for _, backend := range backends() {
		box := s.boxes[backend]
		session := func(ctx context.Context) error { return nothing(ctx, box) }
		all = append(all,
			&rounds.Contender{Name: "`true` over an open session, " + backend, Against: peer, Do: session},
			&rounds.Contender{Name: "the same, each of ten in a row, " + backend, Against: peer, Do: session, InRow: 10},
			&rounds.Contender{Name: "`exec --in NAME -- true`, " + backend, Against: peer, Do: func(ctx context.Context) error {
				return s.run(ctx, s.command, "exec", "--in", box.ID(), "--", "true")
			}},
		)
	}
	return all
}

// creations returns the lines of the table of sandboxes.
func (s *scene) creations() []*rounds.Contender {
	const peer = "docker run --rm true"
	all := []*rounds.Contender{{Name: peer, Do: func(ctx context.Context) error {
		return s.docker(ctx, "run", "--rm", "--network", "none", s.image, "true")
	}}}
	for _, backend := range backends() {
		all = append(all, s.creation(s.driver(backend), "create and first command, "+backend, peer))
	}
	s.warm = s.driver("docker")
	s.warm.Warm = 2
	return append(all, s.creation(s.warm, "create and first command, docker, `--warm 2`", peer))
}

// files returns the lines of the table of files.
func (s *scene) files() []*rounds.Contender {
	in, out := fmt.Sprintf("docker cp, %d MiB in", s.size), fmt.Sprintf("docker cp, %d MiB out", s.size)
	all := []*rounds.Contender{
		{Name: in, Do: func(ctx context.Context) error { return s.docker(ctx, "cp", s.file, s.peer+":/tmp/in") }},
		{Name: out, Do: func(ctx context.Context) error {
			return s.docker(ctx, "cp", s.peer+":/tmp/in", filepath.Join(s.base, "out"))
		}},
	}
	for _, backend := range backends() {
		box := s.boxes[backend]
		all = append(all,
			&rounds.Contender{Name: fmt.Sprintf("Files.Create, %d MiB, %s", s.size, backend), Against: in, Do: func(ctx context.Context) error {
				f, err := os.Open(s.file)
				if err != nil {
					return err
				}
				return errors.Join(box.Files().Create(ctx, "/tmp/in", 0o644, f), f.Close())
			}},
			&rounds.Contender{Name: fmt.Sprintf("Files.Open, %d MiB, %s", s.size, backend), Against: out, Do: func(ctx context.Context) error {
				return fetch(ctx, box, "/tmp/in", filepath.Join(s.base, "out"))
			}},
		)
	}
	return all
}

// creation measures from the creation of a sandbox to the end of its first command.
func (s *scene) creation(driver *persist.Driver, name, against string) *rounds.Contender {
	var box *sandbox.Sandbox
	return &rounds.Contender{
		Name: name, Against: against,
		Do: func(ctx context.Context) (err error) {
			s.made++
			if box, err = sandbox.Create(ctx, driver, s.spec(driver.Name(), "new-"+strconv.Itoa(s.made))); err != nil {
				return err
			}
			return nothing(ctx, box)
		},
		Undo: func(ctx context.Context) error {
			if err := box.Close(ctx); err != nil || driver.Warm == 0 {
				return err
			}
			return s.prepared(ctx)
		},
	}
}

// prepared waits until a warm sandbox is ready, because the measurement is of a start with one.
func (s *scene) prepared(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	spares, err := s.warm.Store.Spares()
	for _, spare := range spares {
		i, oerr := s.warm.Open(ctx, spare.ID)
		if oerr == nil {
			if d, ok := i.(sandbox.Detacher); ok {
				oerr = d.Detach()
			}
		}
		err = errors.Join(err, oerr)
	}
	return err
}

func nothing(ctx context.Context, box *sandbox.Sandbox) error {
	res, err := box.Run(ctx, sandbox.Cmd{Args: []string{"true"}})
	if err == nil && res.Code != 0 {
		err = fmt.Errorf("status %d", res.Code)
	}
	return err
}

func fetch(ctx context.Context, box *sandbox.Sandbox, from, to string) error {
	r, err := box.Files().Open(ctx, from)
	if err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, r.Close(), f.Close())
}

func (s *scene) docker(ctx context.Context, args ...string) error {
	return s.run(ctx, "docker", args...)
}

func (s *scene) run(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir = s.env, s.work
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %q: %w: %s", name, args, err, said.String())
	}
	return nil
}
