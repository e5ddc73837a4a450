package policy

import "path/filepath"

// Guarded returns the guard that forbids an entry at path, which is absolute and
// resolved, or at a directory on the way to it; nil: none does. It goes by names alone
// and does not look at the host.
func (p *Plan) Guarded(path string) *Guard {
	for ; path != "/" && path != "."; path = filepath.Dir(path) {
		dir, name := filepath.Dir(path), filepath.Base(path)
		for i := range p.Guards {
			if g := &p.Guards[i]; g.Dir == dir && g.covers(name) {
				return g
			}
		}
	}
	return nil
}
