package memory

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/change"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Change is a path that commands created, changed or deleted. A created or deleted directory is
// followed by a Change for everything below it.
type Change = change.Change

// NewChange describes a change of a file system.
func NewChange(c vfs.Change) Change {
	info := c.New
	if c.Kind == vfs.Deleted {
		info = c.Old
	}
	return Change{Path: c.Path, Kind: c.Kind.String(), Mode: info.Mode, Size: info.Size, Content: c.Content}
}

// NewChanges describes changes of a file system. It leaves out entries of which only a time differs.
func NewChanges(list []vfs.Change) []Change {
	out := make([]Change, 0, len(list))
	for _, c := range list {
		if c.Kind == vfs.Modified && !c.Content && c.Old.Mode == c.New.Mode && c.Old.UID == c.New.UID && c.Old.GID == c.New.GID {
			continue
		}
		out = append(out, NewChange(c))
	}
	return out
}
