package shell

import "github.com/seed434b0696/agent-sandbox/internal/memory/process"

// show tells others what the process is: what it was started as, where it works, what it has open.
func (sh *interp) show(name string) {
	sh.p.SetName(name)
	sh.showDir()
	sh.showFds()
}

func (sh *interp) showDir() {
	if sh.ownProcess {
		dir := sh.dir
		sh.p.Dir.Store(&dir)
	}
}

// stop ends the run: no script survives it.
func (m *machine) stop(why error) {
	m.mu.Lock()
	cancel := m.cancel
	m.mu.Unlock()
	if cancel != nil {
		cancel(why)
	}
}

// process gives the process a place of its own in the table, when it still uses its parent's.
func (sh *interp) process() *process.Process {
	if sh.ownProcess {
		return sh.p
	}
	sh.ownProcess = true
	p, err := sh.m.table.Start(sh.ctx, sh.p)
	if err != nil { // The table is full: it goes on under the parent's number.
		return sh.p
	}
	sh.ownedEnd = true
	sh.p, sh.ctx = p, p.Ctx
	sh.showDir()
	sh.showFds()
	return p
}
