package cli

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

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

// sameSpec tells whether a sandbox that was made from was is what is would make.
func sameSpec(was, is sandbox.Spec) bool {
	is.Env, was.Env, is.State, was.State = nil, nil, "", ""
	is.Resident, was.Resident = false, false
	a, aerr := json.Marshal(was)
	b, berr := json.Marshal(is)
	return aerr == nil && berr == nil && string(a) == string(b)
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
