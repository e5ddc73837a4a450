package shell

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// State is a machine at one moment: its files, and the directory, variables, functions, options and
// traps of its shell. Processes and open files are no part of it. It never changes, and is safe for
// concurrent use.
type State struct {
	tree *vfs.Snapshot
	at   time.Time
	*frozen
}

// frozen is a shell that nothing runs in. All states of it that were saved without a Run between them
// share it.
type frozen struct {
	mu  sync.Mutex // a fork marks what it is made from
	sh  *interp
	dir string
}

// Save retains the machine as it is, in constant time. It waits for a Run to end.
func (s *Shell) Save() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.frozen == nil {
		s.frozen = &frozen{sh: s.sh.fork(true), dir: s.sh.dir}
		s.frozen.sh.fds.Release()
		s.frozen.sh.fds = nil
	}
	return &State{tree: s.m.fs.Snapshot(), at: s.m.now(), frozen: s.frozen}
}

// Tree returns the files.
func (st *State) Tree() *vfs.Snapshot { return st.tree }

// Time returns when it was saved, by the machine's clock.
func (st *State) Time() time.Time { return st.at }

// Dir returns the working directory.
func (st *State) Dir() string { return st.dir }

// Environ returns the exported variables.
func (st *State) Environ() []string {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.sh.environ()
}

// errForeignState says that what two shells know by number is not the same.
var errForeignState = errors.New("the state is not of this shell, nor of one that it was forked from or to")

// Restore puts the machine back to a state of its own or of one of its family of forks, in constant time.
// It waits for a Run to end; jobs that go on see the restored files.
func (s *Shell) Restore(st *State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.sh.m.lib != s.m.lib {
		return errForeignState
	}
	s.m.fs.Restore(st.tree)
	s.become(st)
	return nil
}

// Reset is Restore of everything but the files.
func (s *Shell) Reset(st *State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.sh.m.lib != s.m.lib {
		return errForeignState
	}
	s.become(st)
	return nil
}

func (s *Shell) become(st *State) {
	s.frozen = st.frozen
	s.sh.fds.Release()
	now := st.fork()
	now.m, now.p, now.ctx, now.mainPID, now.ownProcess, now.jobs = s.m, s.sh.p, s.sh.ctx, s.sh.mainPID, true, s.sh.jobs
	s.sh = now
	now.showDir()
	now.showFds()
}

// Shell returns a new machine that begins as the state.
func (st *State) Shell() *Shell {
	s := newShellOn(st.sh.m.forkOn(st.tree.FS(st.sh.m.fs.Options())))
	s.sh = st.fork()
	s.sh.settle(s.m)
	return s
}

func (st *State) fork() *interp {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.sh.fds = fd.NewTable()
	sh := st.sh.fork(true)
	sh.fds = fd.NewTable()
	sh.trapsInherited = false
	sh.subshell = 0
	return sh
}

func newShellOn(m *machine) *Shell {
	s := &Shell{m: m}
	life, stop := context.WithCancel(context.Background())
	m.life, m.run, s.stop = life, life, stop
	return s
}
