package stage

import "path/filepath"

// Store is a directory of stages. Its methods may be called by many processes at
// once.
type Store struct {
	// Dir is absolute; Create creates it with access for its owner only. It must be outside of every workspace. If its
	// file system does not support the upper directory of an overlay (because it is itself an overlay or a network file
	// system), stages are copies.
	Dir string
	// Guest is the path of the guest, which mounts the view; see program.Locate.
	Guest string
}

// In returns the directory of the stages in the directory of agent-sandbox's files.
func In(data string) string { return filepath.Join(data, "stages") }

// Snapshots is a directory of snapshots of stages, with the same requirements as that of a [Store]. It need not exist. Its
// methods may be called by many processes at once.
type Snapshots struct{ Dir string }
