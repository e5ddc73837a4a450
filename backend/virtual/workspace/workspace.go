// Package workspace defines the access to the changes that sandboxes of backend virtual hold in memory: the interface of their
// instances and the operations that a keeper answers. It does not link the in-memory machine, so that a program can work with a
// sandbox that another process holds.
package workspace

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/internal/memory/change"
	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
)

// Operations that a persistent sandbox answers over its keeper's connection.
const (
	OpChanges = "changes" // writes a [Change] as JSON for each
	OpPatch   = "patch"   // takes [PatchOptions] or nothing, and writes a [Patched] for each change
	OpApply   = "apply"   // takes [ApplyOptions], and writes [Applied]
	OpDiscard = "discard"
)

// Workspace is implemented by instances of this backend: what commands did to the directories of
// the host stays in memory until it is applied.
type Workspace interface {
	// Changes lists what differs from the host's directories, by path. A different time alone does not count.
	Changes() ([]Change, error)
	// Apply makes the changes in the host's directories. Each file is replaced in one step. What
	// the policy protects, or what changed outside meanwhile, stays in memory and is in [Applied.Skipped].
	Apply(ctx context.Context, o ApplyOptions) (Applied, error)
	// Discard forgets the changes.
	Discard() error
}

// ApplyOptions select what to apply; the zero value is everything.
type ApplyOptions struct {
	Force  bool // also apply paths that changed outside meanwhile; the outside changes are lost
	DryRun bool // only report the changes
	// Paths are absolute; a directory stands for all that is below. None: everything.
	Paths []string
}

// Change is a path that commands created, changed or deleted.
type Change = change.Change

// Applied reports what an Apply did.
type Applied struct {
	Changes []Change  `json:"applied"`
	Skipped []Skipped `json:"kept"`
	// Finished are absolute paths of an earlier Apply that was killed, which this one has finished first.
	Finished []string `json:"finished,omitempty"`
}

// Skipped is a change that was not applied.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"` // "conflict", "refused", "depends", "failed"
	Detail string `json:"detail,omitempty"`
}

// PatchOptions select what to show; the zero value is everything.
type PatchOptions struct {
	// Paths are absolute; a directory stands for all that is below. None: everything.
	Paths []string `json:"paths,omitempty"`
}

// Patched compares a change in memory with the host's current file, in the form of a stage's changes.
type Patched struct {
	// Path is relative to the workspace, or absolute where the change is outside of it. It may be invalid UTF-8; that of
	// Change may have lost something in JSON then.
	Path   []byte       `json:"path"`
	Change patch.Change `json:"change"`
	Lines  patch.Lines  `json:"lines"`
	// Text is the patch. Nothing: none can show the change, its file cannot be read, or it is outside of the workspace.
	Text []byte `json:"text,omitempty"`
}
