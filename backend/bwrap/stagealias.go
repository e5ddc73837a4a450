//go:build linux

package bwrap

import (
	"path/filepath"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/mountinfo"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// checkAliases returns Unsupported for a plan that makes the workspace writable by another path,
// at a second mount, which the stage does not cover.
func checkAliases(plan *policy.Plan) error {
	mounts, err := mountinfo.Self()
	if err != nil {
		return sandbox.Errorf(sandbox.Unavailable, "the mounts of this system cannot be read: %w", err)
	}
	for _, alias := range findAliases(mounts, plan.Workspace) {
		writable, _ := plan.Access(alias)
		open := writable == policy.ReadWrite
		for _, m := range plan.Mounts {
			open = open || m.Access == policy.ReadWrite && isBelow(m.Path, alias)
		}
		if open {
			return sandbox.Errorf(sandbox.Unsupported, "the workspace is mounted a second time at %s, where commands may write", alias).
				WithHint("leave that path out of --rw, or run without --stage")
		}
	}
	return nil
}

// isBelow reports whether p is dir or lies in it; both are clean and absolute.
func isBelow(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// findAliases returns the other paths of dir or of a part of it.
func findAliases(mounts []mountinfo.Mount, dir string) []string {
	own := -1
	for i, m := range mounts { // of two at one point, the later one is visible
		if isBelow(dir, m.Point) && (own < 0 || len(m.Point) >= len(mounts[own].Point)) {
			own = i
		}
	}
	if own < 0 {
		return nil
	}
	inside := filepath.Join(mounts[own].Root, strings.TrimPrefix(dir, mounts[own].Point))
	var out []string
	for i, m := range mounts {
		if i == own || m.Device != mounts[own].Device {
			continue
		}
		path := m.Point
		switch {
		case isBelow(inside, m.Root):
			path = filepath.Join(m.Point, strings.TrimPrefix(inside, m.Root))
		case !isBelow(m.Root, inside):
			continue
		}
		if !isBelow(path, dir) {
			out = append(out, path)
		}
	}
	return out
}
