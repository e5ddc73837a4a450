// Package bwrap builds sandboxes from Linux namespaces with bubblewrap.
//
// A sandbox is a policy, checked and resolved; each command runs in namespaces
// of its own that end with it, with everything it started. Beside bubblewrap's
// mounts stand two seccomp programs: one that refuses, and one that asks us (see
// docs/design/guard.md). What cannot be installed makes Create or Start
// fail; nothing runs with less.
package bwrap

import (
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Options configures a Driver. The zero value finds what it needs.
type Options struct {
	Bwrap   string                   // bubblewrap's path; empty: looked for where only the administrator writes
	Guest   string                   // host path of the guest binary; empty: found or extracted below DataDir
	DataDir string                   // directory of ours for the guest and for what was moved out of a tree; empty: ~/.local/share/agent-sandbox
	Stages  string                   // directory of the stages of workspaces; empty: stage.In(DataDir)
	Trace   func(phase, line string) // receives debug output; nil: none
	Denied  func(sandbox.Denial)     // told of what is refused, each once a command, from several goroutines; nil: none
	Record  bool                     // notice refusals to read as well, which makes every open some 10 µs slower
}

// Planned is implemented by instances that can show the plan they enforce.
type Planned interface{ Plan() *policy.Plan }

// DryRunner is implemented by instances that can print what they would execute.
type DryRunner interface {
	DryRun(cmd sandbox.Cmd) (string, error)
}
