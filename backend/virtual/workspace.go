package virtual

import "github.com/seed434b0696/agent-sandbox/backend/virtual/workspace"

type (
	// Workspace gives access to an instance's copy of the workspace.
	Workspace = workspace.Workspace
	// ApplyOptions choose what is applied; the zero value is everything.
	ApplyOptions = workspace.ApplyOptions
	// Change is a path that commands created, changed or deleted.
	Change = workspace.Change
	// Applied reports what an apply did.
	Applied = workspace.Applied
	// Skipped is a change that was not applied.
	Skipped = workspace.Skipped
	// PatchOptions choose what is shown; the zero value is everything.
	PatchOptions = workspace.PatchOptions
	// Patched is a change beside what the host has now.
	Patched = workspace.Patched
)

// The operations that the keeper of a sandbox answers.
const (
	OpChanges = workspace.OpChanges
	OpPatch   = workspace.OpPatch
	OpApply   = workspace.OpApply
	OpDiscard = workspace.OpDiscard
)
