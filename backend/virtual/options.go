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
	Limits   vfs.Limits      // of what commands write in one sandbox; zero fields: the defaults of package vfs
	Commands []shell.Command // further programs; they take the names of those that are there

	// Share lets sandboxes over the same workspace, with the same rules for paths, share one
	// tree with all that is in it, /tmp too, while any of them is open. Without it each has its own.
	Share bool
	// Apply makes what commands changed in the workspace there, as far as the policy allows, when
	// the last sandbox on the tree is closed. Without it changes are lost unless [Workspace.Apply] makes them.
	Apply bool
	// Journal is a directory, outside of every workspace and for this user only, by which an Apply finishes what
	// another one was killed in; see hostdir.Options. "": none.
	Journal string

	Now    func() time.Time         // the clock inside; nil: time.Now
	Trace  func(phase, line string) // receives debug output; nil: none
	Denied func(sandbox.Denial)     // told of what is refused, from several goroutines; nil: none
}

// Planned is implemented by instances that can show the plan they enforce.
type Planned interface{ Plan() *policy.Plan }
