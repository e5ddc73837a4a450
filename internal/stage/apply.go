package stage

// ApplyOptions select the changes to apply.
type ApplyOptions struct {
	// Paths are relative to the workspace, or absolute in it. A directory stands for
	// everything below it. None means everything. NotFound: nothing has changed at or below
	// a path.
	Paths []string
	// Force also applies paths that changed in the workspace meanwhile; the changes in the workspace
	// are lost.
	Force bool
	// Refuse is called for every selected change with its absolute path before Apply makes it. If it
	// returns a reason other than "", Apply skips the path. Nil: no change is refused.
	Refuse func(path string, c Change) string
	// DryRun makes no changes: Result lists the changes that would be applied.
	DryRun bool
}

// Reason is the reason for which a path was not applied.
type Reason string

// The reasons.
const (
	Conflicting Reason = "conflict" // the path changed in the workspace; Force overrides
	Refused     Reason = "refused"  // Refuse refused it, or Apply never applies it
	Depends     Reason = "depends"  // the change needs another path that was not applied
	Failed      Reason = "failed"   // an operation on the file system failed
)

// Skipped is a change that stays in the stage.
type Skipped struct {
	Path   string `json:"path"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail"`
}

// Result reports the applied and the skipped changes. Both lists are ordered by path.
type Result struct {
	Applied []Change  `json:"applied"`
	Skipped []Skipped `json:"skipped"`
	// Finished are the paths of an earlier Apply that was interrupted, which this one finished first.
	Finished []string `json:"finished,omitempty"`
}
