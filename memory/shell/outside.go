package shell

import (
	"syscall"
	"time"
)

// LookPath returns where the program that a name or path means is, for the shell as it is now.
// ENOENT: there is none; EACCES: it may not be executed.
func (s *Shell) LookPath(name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, path, err := s.sh.findCommand(name)
	return path, err
}

// Signal sends a signal, by its number on Linux, to the process group of the first shell and so to
// what a Run runs in the foreground. Between two Runs the signal waits for the next one.
func (s *Shell) Signal(sig syscall.Signal) {
	m := s.m
	m.mu.Lock()
	if !m.running {
		m.early = append(m.early, sig)
		m.mu.Unlock()
		return
	}
	group := m.first.PGID
	m.mu.Unlock()
	for _, p := range m.table.Group(group) {
		p.Send(int(sig))
	}
}

// opened lets signals through from now on, first those that came early.
func (s *Shell) opened() {
	m := s.m
	m.mu.Lock()
	early := m.early
	m.running, m.early = true, nil
	m.mu.Unlock()
	for _, sig := range early {
		s.Signal(sig)
	}
}

// waitDying waits for processes that were told to end, so that nobody finds them after Run. They look often;
// one that is held up by its owner, such as by a write that blocks, is not waited for very long.
func (m *machine) waitDying() {
	late := time.NewTimer(time.Second)
	defer late.Stop()
	for {
		changes := m.table.Changes()
		if !m.table.IsDying(m.first) {
			return
		}
		select {
		case <-changes:
		case <-late.C:
			return
		}
	}
}

func (m *machine) shut() {
	m.mu.Lock()
	m.running = false
	m.mu.Unlock()
}

// Processes returns the processes of the machine by number, the first shell's among them. It may be
// called while a Run goes on.
func (s *Shell) Processes() []ProcessInfo { return s.m.processes() }
