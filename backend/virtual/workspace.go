package virtual

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/memory"
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

// Change is a path that commands created, changed or deleted.
type Change = memory.Change

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
