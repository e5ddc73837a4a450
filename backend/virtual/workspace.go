package virtual

import (
	"context"
	"io/fs"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Workspace is implemented by instances of this backend: what commands did to the directories of
// the host stays in memory until it is applied.
type Workspace interface {
	// Changes lists what differs from the host's directories, by path. A time alone is no change.
	Changes() ([]Change, error)
	// Apply makes the changes in the host's directories. Each file is replaced in one step. What
	// the policy protects, or what changed outside meanwhile, is kept in memory and told.
	Apply(ctx context.Context, o ApplyOptions) (Applied, error)
	// Discard forgets the changes.
	Discard() error
}

// ApplyOptions say what to apply; the zero value is everything.
type ApplyOptions struct {
	Force  bool // also what changed outside meanwhile, which loses that change
	DryRun bool // only tell
	// Paths are absolute; a directory stands for all that is below. None: everything.
	Paths []string
}

// Applied is what an Apply did.
type Applied struct {
	Changes []Change `json:"applied"`
	Kept    []Kept   `json:"kept"`
	// Finished are absolute paths of an earlier Apply that was killed, which this one has finished first.
	Finished []string `json:"finished,omitempty"`
}

// Kept is a change that was not applied.
type Kept struct {
	Path   string `json:"path"`
	Reason string `json:"reason"` // "conflict", "refused", "depends", "failed"
	Detail string `json:"detail,omitempty"`
}

// Change is a path that commands created, changed or deleted. A created or deleted directory is
// followed by a Change for everything below it.
type Change struct {
	Path string      `json:"path"` // absolute
	Kind string      `json:"kind"` // "created", "modified", "deleted", "retyped": a file became a directory, ...
	Mode fs.FileMode `json:"mode"` // of what is there now; of what was there when it is deleted
	Size int64       `json:"size"` // the same, in bytes

	Content bool `json:"content,omitempty"` // modified: the content differs, not only the mode or owner
}

func newChange(c vfs.Change) Change {
	info := c.New
	if c.Kind == vfs.Deleted {
		info = c.Old
	}
	return Change{Path: c.Path, Kind: c.Kind.String(), Mode: info.Mode, Size: info.Size, Content: c.Content}
}

// newChanges leaves out what has only another time.
func newChanges(list []vfs.Change) []Change {
	out := make([]Change, 0, len(list))
	for _, c := range list {
		if c.Kind == vfs.Modified && !c.Content && c.Old.Mode == c.New.Mode && c.Old.UID == c.New.UID && c.Old.GID == c.New.GID {
			continue
		}
		out = append(out, newChange(c))
	}
	return out
}
