//go:build linux

package bwrap

import (
	"context"
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap/host"
	"github.com/seed434b0696/agent-sandbox/policy"
)

// tool is a bubblewrap binary with its features.
type tool struct {
	path     string
	features host.Features
}

// findTool returns the bubblewrap to use for plan, never one in a directory that the sandbox may write: a command could
// have planted it. The error has code Unavailable.
func (d *Driver) findTool(ctx context.Context, plan *policy.Plan) (tool, error) {
	path := d.options.Bwrap
	if path == "" {
		var forbid []string
		for _, m := range plan.Mounts {
			if m.Access == policy.ReadWrite {
				forbid = append(forbid, m.Path)
			}
		}
		var err error
		if path, err = host.Find(filepath.SplitList(searchPath(plan.Env)), forbid); err != nil {
			return tool{}, err
		}
	}
	f, err := host.Probe(ctx, path, d.options.DataDir)
	if err == nil {
		err = f.Usable(path)
	}
	return tool{path: path, features: f}, err
}
