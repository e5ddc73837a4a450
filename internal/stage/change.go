package stage

import "github.com/seed434b0696/agent-sandbox/internal/stage/patch"

type (
	// Change is one path that differs between the workspace and the stage.
	Change = patch.Change
	// Entry is one side of a [Change].
	Entry = patch.Entry
	// Lines counts the lines that a change adds and removes.
	Lines = patch.Lines
)
