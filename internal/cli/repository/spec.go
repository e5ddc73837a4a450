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
	layers, filter, err := repoLayers(a, s, registry)
	if err != nil {
		return sandbox.Spec{}, err
	}
	spec := sandbox.Spec{
		Name: s.Container(s.flags.Branch), Workspace: s.Path, Home: s.host.Home, Env: a.Env,
		Layers: layers, Resident: true,
		Container: sandbox.Container{Image: image, Target: s.Target(), Volumes: s.SandboxVolumes(s.flags.Branch), Firewall: filter},
	}
	if s.flags.Branch != "" {
		spec.Dir = s.Dir(s.flags.Branch)
	}
	return spec, nil
}

// repoLayers returns the layers of a repository's policy, and the rules of its packet filter: the needs of its tools are below
// the user's configuration, and the settings of its own directory above. A packet filter takes the place of the proxy.
func repoLayers(a *console.App, s *startedRepo, registry string) ([]sandbox.Layer, []string, error) {
	layers, err := policy.Load(host.PolicySources(a, s.host, &host.Options{}))
	if err != nil {
		return nil, nil, err
	}
	own, filter, err := s.Layer(&policy.Trust{Dir: s.host.TrustDir()})
	if err != nil {
		return nil, nil, err
	}
	if len(s.flags.Firewall) > 0 {
		filter = s.flags.Firewall
	}
	layers = slices.Insert(layers, 1, repo.Defaults(registry))
	layers = slices.Insert(layers, len(layers)-1, own)
	if len(filter) == 0 {
		return layers, nil, nil
	}
	none := sandbox.Layer{Name: "firewall", Trusted: true}
	none.Policy.Network.Mode = sandbox.NetworkNone
	return slices.Insert(layers, len(layers)-1, none), repo.Filter(filter, registry), nil
}

// isSameSpec reports whether the specs was and is create the same sandbox.
func isSameSpec(was, is sandbox.Spec) bool {
	is.Env, was.Env, is.State, was.State = nil, nil, "", ""
	is.Resident, was.Resident = false, false
	a, aerr := json.Marshal(was)
	b, berr := json.Marshal(is)
	return aerr == nil && berr == nil && string(a) == string(b)
}

// createWorktree creates the worktree of a branch, in a separate sandbox from the same image and with the same policy.
func createWorktree(ctx context.Context, a *console.App, s *startedRepo, spec sandbox.Spec) error {
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
