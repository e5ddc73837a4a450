package virtual

import (
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Options configures a Driver. The zero value is useful.
type Options struct {
	Limits   vfs.Limits      // of what commands write in one sandbox; zero fields: those of the policy, whose defaults are in package sandbox
	Commands []shell.Command // further programs, which replace those of the same name

	// Share lets sandboxes over the same workspace, with the same rules for paths, share one
	// tree with all that is in it, /tmp too, while any of them is open. Without it each has its own.
	Share bool
	// Apply applies the changes of commands to the workspace, as far as the policy allows, when
	// the last sandbox on the tree is closed. Without it they are lost unless [Workspace.Apply] applies them.
	Apply bool
	// Journal is a directory, outside of every workspace and for this user only, with which an Apply finishes a
	// killed one; see hostdir.Options. "": none.
	Journal string

	// Worker makes sandboxes run in other processes; nil: in this one.
	Worker *Worker

	Now    func() time.Time         // the clock inside; nil: time.Now
	Trace  func(phase, line string) // receives debug output; nil: none
	Denied func(sandbox.Denial)     // receives denials, from several goroutines; nil: none
}

// Planned is implemented by instances that can show the plan they enforce.
type Planned interface{ Plan() *policy.Plan }
