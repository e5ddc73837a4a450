package policy

import (
	"github.com/seed434b0696/agent-sandbox/policy/internal/filesystem"
	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The names of layers, in the order in which they are applied; the file of -c, "config", replaces the project's.
const (
	LayerDefaults = layer.Defaults
	LayerGlobal   = "global"
	LayerProject  = "project"
	LayerConfig   = "config"
	LayerFlags    = layer.Flags
)

// The bounds of limits.cpu, in processors: the smallest quota that the kernel takes, and more than any machine has.
const (
	MinCPU = layer.MinCPU
	MaxCPU = layer.MaxCPU
)

// DefaultPids is the default number of processes and threads: room for a
// parallel build, and an end to a fork bomb before the host feels it.
const DefaultPids = 4096

// QuarantineDir is the directory, below agent-sandbox's data directory, for files that commands created although the guard had
// refused them.
const QuarantineDir = filesystem.QuarantineDir

// AgentsDir is the directory, below agent-sandbox's data directory, with a directory for each coding agent that runs in sandboxes:
// its settings, sessions and login. All other sandboxes hide them; a trusted rule can open one.
const AgentsDir = filesystem.AgentsDir

// TmpDir is the directory, below agent-sandbox's data directory, of the /tmp directories that last. Commands do not see it.
const TmpDir = filesystem.TmpDir

// defaultPath is used when the host's PATH holds no absolute directory. Without any, every shell falls back to a list of its own,
// and could find commands that are not wrapped.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Defaults is the bottom layer: no network, no Docker socket, git behind its
// preset, at most [DefaultPids] processes. Presets are left to the resolution,
// which applies @all where no layer names any.
//
// The other limits are off, because no fixed number fits both a small machine
// and a large build: /tmp may grow to the kernel's default for a tmpfs, half of
// the memory; memory, processors and time are unlimited; output that is collected
// is cut at [sandbox.DefaultOutput].
func Defaults() sandbox.Layer {
	no := false
	return sandbox.Layer{
		Name:    LayerDefaults,
		Trusted: true,
		Policy: sandbox.Policy{
			Network:   sandbox.Network{Mode: sandbox.NetworkNone},
			Docker:    &no,
			Userns:    &no,
			Debuggers: &no,
			Commands:  map[string]sandbox.CommandRule{"git": "@git"},
			Limits:    sandbox.Limits{Pids: DefaultPids},
		},
	}
}
