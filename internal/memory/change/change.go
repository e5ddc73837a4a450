// Package change has the type of a change in an in-memory file system, without the machine.
package change

import "io/fs"

// Change is a path that commands created, changed or deleted. A created or deleted directory is
// followed by a Change for everything below it.
type Change struct {
	Path string      `json:"path"` // absolute
	Kind string      `json:"kind"` // "created", "modified", "deleted", "retyped": a file became a directory, ...
	Mode fs.FileMode `json:"mode"` // of the new entry; of the old one when it is deleted
	Size int64       `json:"size"` // the same, in bytes

	Content bool `json:"content,omitempty"` // modified: the content differs, not only the mode or owner
}
