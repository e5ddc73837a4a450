package repository

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Flags select one of a repository's sandboxes, and the commit that it starts from.
type Flags struct {
	Branch   string
	Firewall []string // instead of that of the configuration
	baseTag  string
	build    bool

	needsBuild bool // the base has no effect without a build
}

// Register adds the flags of f to cmd; with start, also those of commands that start a sandbox.
func (f *Flags) Register(cmd *cobra.Command, start bool) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.Branch, "branch", "", "work in a worktree of `BRANCH`, which is made when missing")
	if start {
		addBaseTag(cmd, &f.baseTag)
		f.needsBuild = true
		fs.BoolVar(&f.build, "build", false, "build the repository's image first")
		if fs.Lookup("firewall") == nil { // 'shell' has it for other sandboxes, too
			host.AddFirewallFlag(fs, "instead of the proxy's hosts, reach hosts and presets such as @default over\na packet filter on addresses: `RULE`[,...] (as root)", &f.Firewall)
		}
	}
}

// IsSet reports whether any of the flags was given.
func (f *Flags) IsSet() bool {
	return f.Branch != "" || f.baseTag != "" || f.build || len(f.Firewall) > 0
}

// Check rejects branch names that git rejects, and flags that have no effect.
func (f *Flags) Check() error {
	if f.baseTag != "" && f.needsBuild && !f.build {
		return sandbox.Errorf(sandbox.Invalid, "--base-tag chooses the base of a build").WithHint("add --build, or run: agent-sandbox build --base-tag %s", f.baseTag)
	}
	if f.Branch == "" {
		return nil
	}
	return repo.CheckBranch(f.Branch)
}

// startedRepo is a repository whose sandbox is being started.
type startedRepo struct {
	repo.Repo

	flags  *Flags
	host   host.Host
	engine job.Engine
	driver *persist.Driver
}

// openRepository loads what starting a repository's sandbox needs. The caller closes the engine.
func openRepository(ctx context.Context, a *console.App, dir string, f *Flags) (*startedRepo, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	h, err := host.Locate(a.Env, dir)
	if err != nil {
		return nil, err
	}
	r, err := repo.Open(h.Workspace)
	if err != nil {
		return nil, err
	}
	s := &startedRepo{Repo: r, flags: f, host: h}
	if !r.IsInitialised() {
		return nil, sandbox.Errorf(sandbox.NotFound, "%s is not initialised", r.Path).WithHint("agent-sandbox init %s", r.Path)
	}
	if s.driver, err = inventory.NewDriver(host.Docker, h); err != nil {
		return nil, err
	}
	s.engine, err = openEngine(ctx, a)
	return s, err
}

// Start starts a repository's sandbox and returns its name.
func Start(ctx context.Context, a *console.App, dir string, f *Flags) (string, error) {
	s, err := openRepository(ctx, a, dir, f)
	if err != nil {
		return "", err
	}
	defer s.engine.Close()
	release, err := s.Lock(ctx, s.host.LockDir())
	if err != nil {
		return "", err
	}
	defer release()
	name := s.Container(f.Branch)
	if f.build {
		if _, err := buildRepoImage(ctx, a, s.engine, s.Repo, &buildFlags{}, f.baseTag); err != nil {
			return "", err
		}
	}
	spec, err := repoSpec(ctx, a, s)
	if err != nil {
		return "", err
	}
	old, err := s.driver.Store.Load(name)
	switch {
	case sandbox.CodeOf(err) == sandbox.NotFound:
		return name, createRepo(ctx, a, s, spec)
	case err != nil:
		return "", err
	}
	runs, err := s.driver.Store.Runs(name)
	same := isSameSpec(old.Spec, spec)
	switch {
	case err != nil:
		return "", err
	case runs && !same:
		a.Err.Say("it runs as it was started: what changed since, in its image or its policy, needs 'agent-sandbox stop'")
		return name, nil
	case runs:
		return name, nil
	case same:
		return name, s.driver.Start(ctx, name, a.Env)
	}
	if err := prepareVolumes(ctx, a, s, spec); err != nil {
		return "", err
	}
	if err := s.driver.Change(ctx, name, spec); err != nil {
		return "", err
	}
	if old.Spec.Image != spec.Image {
		a.Err.Say("its image has changed: the container is made anew, the volumes stay, and a snapshot has its files: agent-sandbox snapshots " + name)
	} else {
		a.Err.Say("its policy has changed: the container is made anew with its files")
	}
	return name, setAuthorByName(ctx, a, s, name)
}

// createRepo creates a repository's sandbox.
func createRepo(ctx context.Context, a *console.App, s *startedRepo, spec sandbox.Spec) error {
	if err := prepareVolumes(ctx, a, s, spec); err != nil {
		return err
	}
	box, err := sandbox.Create(ctx, s.driver, spec)
	if sandbox.CodeOf(err) == sandbox.Unavailable {
		return host.ExplainUnavailable(ctx, a, s.driver, err)
	}
	if err != nil {
		return err
	}
	return errors.Join(setAuthor(ctx, a, box, s.Path), box.Detach())
}

// prepareVolumes gives the volumes of a repository their owner, and creates the worktree of its branch.
func prepareVolumes(ctx context.Context, a *console.App, s *startedRepo, spec sandbox.Spec) error {
	owner, err := s.Owner()
	if err != nil {
		return err
	}
	if err := s.Own(ctx, s.engine, spec.Image, owner); err != nil {
		return err
	}
	if s.flags.Branch == "" {
		return nil
	}
	return createWorktree(ctx, a, s, spec)
}

// setAuthorByName is setAuthor for a sandbox that runs.
func setAuthorByName(ctx context.Context, a *console.App, s *startedRepo, name string) error {
	box, err := sandbox.Open(ctx, s.driver, name)
	if err != nil {
		return err
	}
	return errors.Join(setAuthor(ctx, a, box, s.Path), box.Detach())
}
