package virtual

import "github.com/seed434b0696/agent-sandbox/backend/virtual/workspace"

// The types of package workspace, which an instance of this backend implements and returns.
type (
	Workspace    = workspace.Workspace
	ApplyOptions = workspace.ApplyOptions
	Change       = workspace.Change
	Applied      = workspace.Applied
	Kept         = workspace.Kept
	PatchOptions = workspace.PatchOptions
	Patched      = workspace.Patched
)

// The operations that the keeper of a sandbox answers.
const (
	OpChanges = workspace.OpChanges
	OpPatch   = workspace.OpPatch
	OpApply   = workspace.OpApply
	OpDiscard = workspace.OpDiscard
)
