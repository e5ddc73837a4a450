//go:build linux

package guard

import "sync"

// Watch finds guarded names that appear on the host. A guard inside a container is a process of the container's user; a
// Watch depends on no process inside. It follows no links. It is safe for concurrent use.
type Watch struct {
	mu     sync.Mutex
	places []place
	seen   map[string]bool
}

// NewWatch returns a Watch for those of names that do not exist now. Their directories are paths of the host.
func NewWatch(names []Name) *Watch {
	return &Watch{places: newSweeper(names).places, seen: map[string]bool{}}
}

// Look returns the paths that have appeared, each once: guarded names, and links on the path to one. It does not know
// which process made them.
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
