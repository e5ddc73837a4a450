package shell

import (
	"errors"
	"syscall"
)

// What a Run may have met, besides ErrFuel: see Result.Limit.
var (
	ErrMemory    = errors.New("limit of memory reached")
	ErrProcesses = errors.New("limit of processes reached")
	ErrDepth     = errors.New("limit of depth reached")
	ErrSource    = errors.New("limit of a script's length reached")
)

// meet notes that the run has met a limit; the first one counts.
func (m *machine) meet(limit error) { m.met.CompareAndSwap(nil, &limit) }

// take counts n more bytes, or fewer when n is negative. False: there are not as many,
// and nothing has been counted.
func (m *machine) take(n int) bool {
	if total := m.bytes.Add(int64(n)); n > 0 && total > m.limits.Bytes {
		m.bytes.Add(-int64(n))
		m.meet(ErrMemory)
		return false
	}
	return true
}

// memoryBatch is how many bytes a process takes from its machine at once.
const memoryBatch = 1 << 16

// Reserve counts n bytes that a command is about to hold, and Release counts them
// back; what is left is released when the command ends. ENOMEM means that the machine
// has not as many: nothing was reserved, and the command should give up with a message
// (GNU's is "memory exhausted"). A command reserves what grows with its input and stays:
// lines to sort, a table of keys. Buffers of fixed size need not be told. It is cheap
// enough for each line. Like Spend it is for the command's own goroutine only.
func (p *Proc) Reserve(n int) error {
	p.held += n
	if p.held <= p.reserved {
		return nil
	}
	more := p.held - p.reserved
	if batch := more + memoryBatch; p.sh.m.take(batch) {
		p.reserved += batch
	} else if p.sh.m.take(more) {
		p.reserved += more
	} else {
		p.held -= n
		return syscall.ENOMEM
	}
	return nil
}

// Release counts back n bytes of those reserved.
func (p *Proc) Release(n int) {
	p.held = max(p.held-n, 0)
	if spare := p.reserved - p.held; spare > 2*memoryBatch {
		p.sh.m.take(memoryBatch - spare)
		p.reserved = p.held + memoryBatch
	}
}

// releaseAll gives back what the command has not.
func (p *Proc) releaseAll() {
	p.sh.m.take(-p.reserved)
	p.held, p.reserved = 0, 0
}
