package memory

import (
	"fmt"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/system"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Snapshot is the state of a [Machine] at one moment: all files, and the shell's directory, variables, functions,
// options and traps. It never changes, shares memory with machines and other snapshots, and is safe for
// concurrent use.
type Snapshot struct {
	state  *shell.State
	system *system.System
}

// Snapshot saves the state of the machine in constant time. It waits for a Run to end. The error is ErrClosed.
func (m *Machine) Snapshot() (*Snapshot, error) {
	m.run.Lock()
	defer m.run.Unlock()
	if m.isClosed() {
		return nil, ErrClosed
	}
	return m.snapshot(), nil
}

func (m *Machine) snapshot() *Snapshot { return &Snapshot{m.sh.Save(), m.system} }

// Restore puts the machine back to a snapshot in constant time. Background jobs go on, on the restored files.
// The error is ErrClosed, or ErrInvalid for a snapshot of a machine that this one was not forked from or to: [Load] makes a
// machine of what such a one has saved.
func (m *Machine) Restore(s *Snapshot) error {
	m.run.Lock()
	defer m.run.Unlock()
	if m.isClosed() {
		return ErrClosed
	}
	if err := m.sh.Restore(s.state); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// Files returns the files, which can be written out: see vfs.Snapshot.
func (s *Snapshot) Files() *vfs.Snapshot { return s.state.Tree() }

// Dir returns the shell's working directory.
func (s *Snapshot) Dir() string { return s.state.Dir() }

// Env returns the exported variables as NAME=value.
func (s *Snapshot) Env() []string { return s.state.Environ() }

// Created returns when it was made, by the machine's clock.
func (s *Snapshot) Created() time.Time { return s.state.Time() }

// Changes lists how the files of a later snapshot of the same family differ, by path. The time it takes grows with
// the number of changes, not of files.
func (s *Snapshot) Changes(later *Snapshot) []Change {
	return NewChanges(vfs.Diff(s.state.Tree(), later.state.Tree()))
}
