//go:build linux

package bwrap

import (
	"context"
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/policy"
)

// tool is a bubblewrap binary and what it can do.
type tool struct {
	path     string
	features features
}

// find returns the bubblewrap to use for plan. One that lies where the sandbox
// may write is never taken: the workspace could have planted it.
func (d *Driver) find(ctx context.Context, plan *policy.Plan) (tool, error) {
	path := d.options.Bwrap
	if path == "" {
		var forbid []string
		for _, m := range plan.Mounts {
			if m.Access == policy.ReadWrite {
				forbid = append(forbid, m.Path)
			}
		}
		var err error
		if path, err = findBwrap(filepath.SplitList(lookup(plan.Env, "PATH")), forbid); err != nil {
			return tool{}, err
		}
	}
	f, err := d.features(ctx, path)
	return tool{path: path, features: f}, err
}
