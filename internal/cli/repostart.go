package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// repoFlags say which of a repository's sandboxes is meant, and what it starts from.
type repoFlags struct {
	branch  string
	baseTag string
	build   bool
}

func (f *repoFlags) register(cmd *cobra.Command, start bool) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.branch, "branch", "", "work in a worktree of `BRANCH`, which is made when missing")
	if start {
		addBaseTag(cmd, &f.baseTag)
		fs.BoolVar(&f.build, "build", false, "build the repository's image first")
	}
}

// set tells whether any of the flags was given.
func (f *repoFlags) set() bool { return *f != repoFlags{} }

func (f *repoFlags) check() error {
	if f.branch == "" {
		return nil
	}
	return repo.CheckBranch(f.branch)
}

// startedRepo is a repository on its way to a sandbox.
type startedRepo struct {
	repo.Repo

	flags  *repoFlags
	host   host
	engine *engine.Client
	driver *persist.Driver
}

// openRepo finds what starting a repository's sandbox needs. The caller closes the engine.
func (a *app) openRepo(ctx context.Context, dir string, f *repoFlags) (*startedRepo, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	h, err := locate(a.env, dir)
	if err != nil {
		return nil, err
	}
	r, err := repo.Open(h.workspace)
	if err != nil {
		return nil, err
	}
	s := &startedRepo{Repo: r, flags: f, host: h}
	if !r.Initialised() {
		return nil, sandbox.Errorf(sandbox.NotFound, "%s is not initialised", r.Path).WithHint("agent-sandbox init %s", r.Path)
	}
	if s.driver, err = keptDriver(dockerBackend, h); err != nil {
		return nil, err
	}
	s.engine, err = a.openEngine(ctx)
	return s, err
}

// startRepo makes a repository's sandbox run and returns its name.
func (a *app) startRepo(ctx context.Context, dir string, f *repoFlags) (string, error) {
	s, err := a.openRepo(ctx, dir, f)
	if err != nil {
		return "", err
	}
	defer s.engine.Close()
	release, err := s.Lock(ctx, s.host.lockDir())
	if err != nil {
		return "", err
	}
	defer release()
	name := s.Container(f.branch)
	if f.build {
		if _, err := a.buildRepoImage(ctx, s.engine, s.Repo, &buildFlags{}, f.baseTag); err != nil {
			return "", err
		}
	}
	spec, err := a.repoSpec(ctx, s)
	if err != nil {
		return "", err
	}
	old, err := s.driver.Store.Load(name)
	switch {
	case sandbox.CodeOf(err) == sandbox.NotFound:
		return name, a.createRepo(ctx, s, spec)
	case err != nil:
		return "", err
	}
	runs, err := s.driver.Store.Runs(name)
	same := sameSpec(old.Spec, spec)
	switch {
	case err != nil:
		return "", err
	case runs && !same:
		a.err.say("it runs as it was started: what changed since, in its image or its policy, needs 'agent-sandbox stop'")
		return name, nil
	case runs:
		return name, nil
	case same:
		return name, s.driver.Start(ctx, name, a.env)
	}
	a.err.say("its image or its policy has changed: the container is made anew, the volumes stay")
	if err := s.driver.Destroy(ctx, name); err != nil {
		return "", err
	}
	return name, a.createRepo(ctx, s, spec)
}

// createRepo makes a repository's sandbox for the first time.
func (a *app) createRepo(ctx context.Context, s *startedRepo, spec sandbox.Spec) error {
	owner, err := s.Owner()
	if err != nil {
		return err
	}
	if err := s.Own(ctx, s.engine, spec.Image, owner); err != nil {
		return err
	}
	if s.flags.branch != "" {
		if err := a.provision(ctx, s, spec); err != nil {
			return err
		}
	}
	box, err := sandbox.Create(ctx, s.driver, spec)
	if sandbox.CodeOf(err) == sandbox.Unavailable {
		return a.unavailable(ctx, s.driver, err)
	}
	if err != nil {
		return err
	}
	return errors.Join(a.identify(ctx, box, s.Path), box.Detach())
}
