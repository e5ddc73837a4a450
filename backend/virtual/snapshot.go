package virtual

import (
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Snapshot is a [Machine] at one moment: all files, and the shell's directory, variables, functions,
// options and traps. It never changes, shares what it can with machines and other snapshots, and is safe for
// concurrent use.
type Snapshot struct{ state *shell.State }

// CreateSnapshot retains the machine as it is, in constant time. It waits for an Execute to end.
func (m *Machine) CreateSnapshot() (*Snapshot, error) {
	m.run.Lock()
	defer m.run.Unlock()
	if m.isClosed() {
		return nil, errClosed()
	}
	return &Snapshot{m.sh.Save()}, nil
}

// RestoreSnapshot puts the machine back to a snapshot of its own, or of a machine that it was forked
// from or to, in constant time. Jobs in the background go on, on the restored files.
func (m *Machine) RestoreSnapshot(s *Snapshot) error {
	m.run.Lock()
	defer m.run.Unlock()
	if m.isClosed() {
		return errClosed()
	}
	if err := m.sh.Restore(s.state); err != nil {
		return sandbox.Errorf(sandbox.Invalid, "%w", err)
	}
	return nil
}

// Files returns the files, which can be written out: see vfs.Snapshot.
func (s *Snapshot) Files() *vfs.Snapshot { return s.state.Tree() }

// WorkingDirectory returns the shell's directory.
func (s *Snapshot) WorkingDirectory() string { return s.state.Dir() }

// Environment returns the exported variables.
func (s *Snapshot) Environment() []string { return s.state.Environ() }

// Timestamp returns when it was made, by the machine's clock.
func (s *Snapshot) Timestamp() time.Time { return s.state.Time() }

// Changes lists how the files of a later snapshot of the same family differ, in time of what changed.
func (s *Snapshot) Changes(later *Snapshot) []Change {
	return newChanges(vfs.Diff(s.state.Tree(), later.state.Tree()))
}
