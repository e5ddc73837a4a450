//go:build linux

package guard

import "sync"

// Watch finds guarded names that come into being, as the host sees them. A guard inside a container is a process of the
// container's user; this look depends on nothing inside. It follows no link. It is safe for concurrent use.
type Watch struct {
	mu     sync.Mutex
	places []place
	seen   map[string]bool
}

// NewWatch looks for names, whose directories are those of the host, that do not exist now.
func NewWatch(names []Name) *Watch {
	return &Watch{places: newSweeper(names).places, seen: map[string]bool{}}
}

// Look returns the paths that exist now and did not, each once: guarded names, and links that came onto the way to
// one. Who made
// them is not known.
func (w *Watch) Look() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, p := range w.places {
		a, _, ok := p.find()
		if !ok {
			continue
		}
		a.close()
		if !w.seen[a.Path] {
			w.seen[a.Path] = true
			out = append(out, a.Path)
		}
	}
	return out
}
