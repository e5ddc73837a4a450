package cli

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/internal/images"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// dockerBackend is the one that repositories' sandboxes have.
const dockerBackend = "docker"

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

// repoSpec describes a repository's sandbox.
func (a *app) repoSpec(ctx context.Context, s *startedRepo) (sandbox.Spec, error) {
	image, registry, err := s.BuiltImage(ctx, s.engine)
	if err != nil {
		return sandbox.Spec{}, err
	}
	layers, err := a.repoLayers(s.Repo, s.host, registry)
	if err != nil {
		return sandbox.Spec{}, err
	}
	spec := sandbox.Spec{
		Name: s.Container(s.flags.branch), Workspace: s.Path, Home: s.host.home, Env: a.env,
		Layers: layers, Resident: true, Image: image, Target: s.Target(), Volumes: s.Volumes(),
	}
	if s.flags.branch != "" {
		spec.Dir = s.Dir(s.flags.branch)
	}
	return spec, nil
}

// repoLayers are the layers of a repository's policy: what its tools need stands below what the user configured, and what
// its own directory says above.
func (a *app) repoLayers(r repo.Repo, h host, registry string) ([]sandbox.Layer, error) {
	layers, err := policy.Load(a.sources(h, &options{}))
	if err != nil {
		return nil, err
	}
	own, err := r.Layer(&policy.Trust{Dir: h.trustDir()})
	if err != nil {
		return nil, err
	}
	layers = slices.Insert(layers, 1, repo.Defaults(registry))
	return slices.Insert(layers, len(layers)-1, own), nil
}

// provision makes the worktree of a branch, in a sandbox of its own from the same image and with the same policy.
func (a *app) provision(ctx context.Context, s *startedRepo, spec sandbox.Spec) error {
	spec.Name, spec.Dir, spec.Resident = spec.Name+"-provision", "", false
	spec.Policy.Commands = map[string]sandbox.CommandRule{"git": "true"} // the script is ours
	box, err := sandbox.Create(ctx, s.driver.Inner, spec)
	if err != nil {
		return err
	}
	said, err := s.Provision(ctx, box, s.flags.branch)
	for _, line := range said {
		a.err.line(line)
	}
	return errors.Join(err, box.Close(context.WithoutCancel(ctx)))
}

// sameSpec tells whether a sandbox that was made from was is what is would make.
func sameSpec(was, is sandbox.Spec) bool {
	is.Env, was.Env, is.State, was.State = nil, nil, "", ""
	is.Resident, was.Resident = false, false
	a, aerr := json.Marshal(was)
	b, berr := json.Marshal(is)
	return aerr == nil && berr == nil && string(a) == string(b)
}

func newCheckout(a *app) *cobra.Command {
	var f repoFlags
	var dir string
	cmd := &cobra.Command{
		Use:   "checkout [flags] BRANCH",
		Short: "make the worktree of a branch, without starting anything",
		Long: `In the volume that the sandboxes of this repository share, where each branch has a
worktree of its own below /repo-shelf/worktrees. It starts at origin's branch of
that name, the host's, or origin's main.`,
		Example: "agent-sandbox checkout feat/search\nagent-sandbox shell --branch feat/search",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError(cmd.CommandPath(), "checkout takes one branch")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.branch = args[0]
			if f.branch == "" {
				return usageError(cmd.CommandPath(), "checkout takes one branch")
			}
			return a.checkout(cmd.Context(), dir, &f)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(&dir, "cwd", "C", "", "work in `DIR` instead of the current directory")
	cmd.Flags().StringVar(&f.baseTag, "base-tag", "", "use the base image with the tag `TAG` instead of latest")
	return describe(cmd, exitSimple)
}

func (a *app) checkout(ctx context.Context, dir string, f *repoFlags) error {
	relay, ctx := startRelay(ctx, false, a.err.say)
	defer relay.stop()
	s, err := a.openRepo(ctx, dir, f)
	if err != nil {
		return err
	}
	defer s.engine.Close()
	if err := images.CheckTag(f.baseTag); err != nil {
		return err
	}
	image, err := repo.BaseImage(ctx, s.engine, f.baseTag)
	if err != nil {
		return err
	}
	release, err := s.Lock(ctx, s.host.lockDir())
	if err != nil {
		return err
	}
	defer release()
	layers, err := a.repoLayers(s.Repo, s.host, "")
	if err != nil {
		return err
	}
	owner, err := s.Owner()
	if err != nil {
		return err
	}
	if err := s.Own(ctx, s.engine, image, owner); err != nil {
		return err
	}
	return a.provision(ctx, s, sandbox.Spec{
		Name: s.Container(f.branch), Workspace: s.Path, Home: s.host.home, Env: a.env, Layers: layers,
		Image: image, Target: s.Target(), Volumes: s.Volumes(),
	})
}
