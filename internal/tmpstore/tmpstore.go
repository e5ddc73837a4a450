// Package tmpstore stores the /tmp directories of workspaces that last between runs (filesystem.tmp).
//
// Commands write them, so they lie where no program of the host looks, and every sandbox hides the store: a command sees
// its own directory as /tmp and no other. A link in a work tree can lead a program of the host into one all the same, so
// the guard forbids new git repositories there, as in shared caches.
package tmpstore

import "path/filepath"

// Store is a directory of the /tmp directories of one user. Its methods may be called by several processes at once.
type Store struct {
	Dir string // absolute; need not exist
}

// Names inside the store. Each workspace has a directory, whose name is a hash.
const (
	workspaceFile = "workspace" // its identity
	filesDir      = "files"     // what its sandboxes see as /tmp
	gonePrefix    = ".gone-"    // of directories that are being removed
)

// isWithin reports whether path is dir or lies below it; both are clean.
func isWithin(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
