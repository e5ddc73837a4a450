package virtual

import (
	"path"

	"github.com/seed434b0696/agent-sandbox/internal/memory/system"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/policy"
)

// shield says for one host directory what a plan allows below it.
type shield struct {
	access map[string]policy.Access // by name relative to the directory; "." is there
	pinned map[string]bool          // what must stay in its place
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
		// In memory a workspace that is the home directory can be worked in: what nobody asked to
		// be read-only is refused when it is applied.
		s.access["."] = policy.ReadWrite
	}
	return s
}

// protection is vfs.LayerOptions.Protect.
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

// of returns the access of the nearest directory that has a rule.
func (s *shield) of(name string) policy.Access {
	for {
		if a, ok := s.access[name]; ok {
			return a
		}
		name = path.Dir(name)
	}
}
