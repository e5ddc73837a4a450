package repository

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// repoSpec describes a repository's sandbox.
func repoSpec(ctx context.Context, a *console.App, s *startedRepo) (sandbox.Spec, error) {
	image, registry, err := s.BuiltImage(ctx, s.engine)
	if err != nil {
		return sandbox.Spec{}, err
	}
	layers, err := repoLayers(a, s.Repo, s.host, registry)
	if err != nil {
		return sandbox.Spec{}, err
	}
	spec := sandbox.Spec{
		Name: s.Container(s.flags.Branch), Workspace: s.Path, Home: s.host.Home, Env: a.Env,
		Layers: layers, Resident: true,
		Container: sandbox.Container{Image: image, Target: s.Target(), Volumes: s.SandboxVolumes(s.flags.Branch)},
	}
	if s.flags.Branch != "" {
		spec.Dir = s.Dir(s.flags.Branch)
	}
	return spec, nil
}

// repoLayers returns the layers of a repository's policy: the needs of its tools are below the user's configuration, and
// the settings of its own directory above.
func repoLayers(a *console.App, r repo.Repo, h host.Host, registry string) ([]sandbox.Layer, error) {
	layers, err := policy.Load(host.PolicySources(a, h, &host.Options{}))
	if err != nil {
		return nil, err
	}
	own, err := r.Layer(&policy.Trust{Dir: h.TrustDir()})
	if err != nil {
		return nil, err
	}
	layers = slices.Insert(layers, 1, repo.Defaults(registry))
	return slices.Insert(layers, len(layers)-1, own), nil
}

// isSameSpec reports whether the specs was and is create the same sandbox.
func isSameSpec(was, is sandbox.Spec) bool {
	is.Env, was.Env, is.State, was.State = nil, nil, "", ""
	is.Resident, was.Resident = false, false
	a, aerr := json.Marshal(was)
	b, berr := json.Marshal(is)
	return aerr == nil && berr == nil && string(a) == string(b)
}

// provision creates the worktree of a branch, in a separate sandbox from the same image and with the same policy.
func provision(ctx context.Context, a *console.App, s *startedRepo, spec sandbox.Spec) error {
	spec.Name, spec.Dir, spec.Resident, spec.Volumes = spec.Name+"-provision", "", false, s.Volumes()
	spec.Policy.Commands = map[string]sandbox.CommandRule{"git": "true"} // the script is ours
	box, err := sandbox.Create(ctx, s.driver.Inner, spec)
	if err != nil {
		return err
	}
	said, err := s.Provision(ctx, box, s.flags.Branch)
	for _, line := range said {
		a.Err.Line(line)
	}
	return errors.Join(err, box.Close(context.WithoutCancel(ctx)))
}
