package stage

import "path/filepath"

// Store is a directory of stages. Its methods may be called by many processes at
// once.
type Store struct {
	// Dir is absolute; it is made, for its owner only, when missing. It lies outside
	// of every workspace, and on a file system that can hold an overlay's changes
	// (not itself an overlay or a network's), else stages are copies.
	Dir string
	// Guest is the program that mounts: the guest, see guest.Locate.
	Guest string
}

// In is the directory of the stages below the directory of our own files.
func In(data string) string { return filepath.Join(data, "stages") }

// Snapshots is a directory of the changes that stages had at some moments, which lies where a [Store] could. It need not
// exist. Its methods may be called by many processes at once.
type Snapshots struct{ Dir string }
