// Package bwrap builds sandboxes from Linux namespaces with bubblewrap.
//
// A sandbox is a checked and resolved policy. Each command runs in namespaces of its own,
// which end with it and kill everything it started; the commands of a resident sandbox
// share them. Two seccomp programs complement bubblewrap's mounts: one denies system calls,
// and one asks the guard (docs/design/guard.md). If the host cannot enforce a rule, Create or
// Start fails.
package bwrap

import (
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Options configures a Driver. The zero value finds what it needs.
type Options struct {
	Bwrap   string                   // bubblewrap's path; empty: see host.Find
	Guest   string                   // host path of the guest binary; empty: found or extracted below DataDir
	DataDir string                   // directory for the guest and the quarantine; empty: ~/.local/share/agent-sandbox
	Stages  string                   // directory of the stages of workspaces; empty: stage.In(DataDir)
	Trace   func(phase, line string) // receives debug output; nil: none
	Denied  func(sandbox.Denial)     // receives denials, each once per command, from several goroutines; nil: none
	TmpLeft func()                   // is called when a command ends and leaves files in a /tmp that ends with it, where the kernel has Landlock; nil: none
	Record  bool                     // also report denials of reading, which makes every open some 10 µs slower
}

// Planned is implemented by instances that can show the plan they enforce.
type Planned interface{ Plan() *policy.Plan }

// DryRunner is implemented by instances that can print what they would execute.
type DryRunner interface {
	DryRun(cmd sandbox.Cmd) (string, error)
}
