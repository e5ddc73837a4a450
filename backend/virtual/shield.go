package virtual

import (
	"path"

	"github.com/seed434b0696/agent-sandbox/internal/memory/system"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/policy"
)

// shield is the access that a plan allows below one host directory.
type shield struct {
	access map[string]policy.Access // by name relative to the directory; "." is there
	pinned map[string]bool          // names that cannot be moved or removed
}

func newShield(plan *policy.Plan, dir string) *shield {
	access, rule := plan.Access(dir)
	s := &shield{access: map[string]policy.Access{".": access}, pinned: map[string]bool{".": true}}
	for _, m := range plan.Mounts {
		name, ok := system.Relative(m.Path, dir)
		if !ok {
			continue
		}
		s.access[name] = m.Access
		for ; name != "."; name = path.Dir(name) {
			s.pinned[name] = true
		}
	}
	if dir == plan.Workspace && access == policy.ReadOnly && (rule == nil || rule.Source == "built in") {
		// In memory, commands may write to a workspace that is the home directory: Apply refuses the
		// changes unless a rule allows them.
		s.access["."] = policy.ReadWrite
	}
	return s
}

// protection implements vfs.LayerOptions.Protect.
func (s *shield) protection(name string) vfs.Protection {
	switch s.of(name) {
	case policy.ReadWrite:
		if s.pinned[name] {
			return vfs.Pinned
		}
		return vfs.Free
	case policy.ReadOnly:
		return vfs.Fixed
	default: // A private directory below a workspace has nothing of the host either.
		return vfs.Masked
	}
}

// of returns the access of name: that of its own rule, or of the nearest directory above that has one.
func (s *shield) of(name string) policy.Access {
	for {
		if a, ok := s.access[name]; ok {
			return a
		}
		name = path.Dir(name)
	}
}
