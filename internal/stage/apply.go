package stage

// ApplyOptions select the changes to apply.
type ApplyOptions struct {
	// Paths are relative to the workspace, or absolute in it. A directory stands for
	// everything below it. None means everything. NotFound: nothing has changed at or below
	// a path.
	Paths []string
	// Force also applies paths that changed in the workspace meanwhile, whose changes there
	// are lost.
	Force bool
	// Refuse is asked about every wanted change with its absolute path before it is
	// made; the path is skipped if it returns a reason other than "". Nil refuses nothing.
	Refuse func(path string, c Change) string
	// DryRun changes nothing: Result says what would be applied.
	DryRun bool
}

// Reason tells why a path was not applied.
type Reason string

// The reasons.
const (
	Conflicting Reason = "conflict" // it changed in the workspace; Force overrides
	Refused     Reason = "refused"  // Refuse said so, or it is never applied
	Depends     Reason = "depends"  // it needs another path that was not applied
	Failed      Reason = "failed"   // the file system did
)

// Skipped is a change that stays in the stage.
type Skipped struct {
	Path   string `json:"path"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail"`
}

// Result reports what Apply did. Both lists are ordered by path.
type Result struct {
	Applied []Change  `json:"applied"`
	Skipped []Skipped `json:"skipped"`
	// Finished are the paths of an earlier Apply that was interrupted, which this one finished first.
	Finished []string `json:"finished,omitempty"`
}
