package shell

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Limits bound what scripts may take. A zero field is its default, a negative one no limit.
type Limits struct {
	Fuel      int64 // units of work of one Run, about one simple command or 64 bytes each; 500 million
	Depth     int   // functions, sources, evals and subshells inside each other; 2000
	Bytes     int64 // memory of variables, words and captured output together; 256 MiB
	Processes int   // processes at one time; 256
	Files     int   // open descriptors of one process; 1024
	Source    int64 // bytes of one script; 16 MiB
}

func (l Limits) withDefaults() Limits {
	l.Fuel = defaulted(l.Fuel, 500_000_000)
	l.Depth = defaulted(l.Depth, 2000)
	l.Bytes = defaulted(l.Bytes, 256<<20)
	l.Processes = defaulted(l.Processes, 256)
	l.Files = defaulted(l.Files, 1024)
	l.Source = defaulted(l.Source, 16<<20)
	return l
}

// defaulted returns def for 0 and the largest number for "no limit".
func defaulted[T int | int64](n, def T) T {
	switch {
	case n == 0:
		return def
	case n < 0:
		return T(^uint(0) >> 2)
	}
	return n
}

// machine is what all processes of one shell share.
type machine struct {
	fs       *vfs.FS
	now      func() time.Time
	limits   Limits
	programs atomic.Pointer[programs]
	fault    func(command string, v any)

	fuel  atomic.Int64          // what is left of the run's fuel
	bytes atomic.Int64          // memory taken by variables and buffers
	most  atomic.Int64          // what bytes may be in this run
	met   atomic.Pointer[error] // the limit that the run met first

	lib      *library
	hintFor  func(string) string
	hostname string
	born     time.Time
	lastPipe atomic.Uint64                    // numbers of pipes that somebody has asked for
	zone     func(name string) *time.Location // what TZ names; nil: UTC only
	life     context.Context                  //nolint:containedctx // The machine's own end.
	wait     sync.WaitGroup                   // goroutines of processes

	table   *process.Table
	mu      sync.Mutex
	first   *process.Process // the first shell's; set before the first Run
	running bool             // a Run goes on, which signals reach
	early   []syscall.Signal
	run     context.Context         //nolint:containedctx // Of the current Run.
	cancel  context.CancelCauseFunc // ends it
	rand    *rand.Rand
}

// Take implements fd.Memory.
func (m *machine) Take(n int) bool { return m.take(n) }

// nextPipe numbers a pipe.
func (m *machine) nextPipe() uint64 { return m.lastPipe.Add(1) + firstPipe }

// firstPipe makes numbers of pipes look different from other numbers.
const firstPipe = 10000

// takeFuel takes n units for a process, which spends them without asking.
func (m *machine) takeFuel(n int) error {
	if m.fuel.Add(-int64(n)) < 0 {
		m.meet(ErrFuel)
		return ErrFuel
	}
	return nil
}

// refuel takes back what a process did not use. Its parent does not get it: it would go on for so
// long without looking at its context.
func (m *machine) refuel(n int) { m.fuel.Add(int64(n)) }

func (m *machine) newRand() *rand.Rand {
	m.mu.Lock()
	defer m.mu.Unlock()
	return rand.New(rand.NewPCG(m.rand.Uint64(), m.rand.Uint64())) //nolint:gosec // RANDOM of a shell is no secret.
}

// list returns each command once, sorted by name.
func (m *machine) list() []*Command {
	list := m.programs.Load().list()
	all := make([]*Command, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// begin gives a run its fuel.
func (m *machine) begin(ctx context.Context, cancel context.CancelCauseFunc) {
	m.fuel.Store(m.limits.Fuel)
	m.met.Store(nil)
	m.most.Store(min(max(m.limits.Bytes, m.bytes.Load()+graceBytes), m.limits.Bytes+16*graceBytes))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.run, m.cancel = ctx, cancel
}

// forkOn returns a machine like this one on other files.
func (m *machine) forkOn(tree *vfs.FS) *machine {
	n := &machine{
		fs: tree, now: m.now, limits: m.limits, lib: m.lib, fault: m.fault,
		rand: m.newRand(), hintFor: m.hintFor,
		hostname: m.hostname, zone: m.zone, born: m.now(),
	}
	_, _, last := m.table.Load()
	n.table = process.NewTable(n.limits.Processes, last, n.ticks)
	n.programs.Store(m.programs.Load())
	n.fuel.Store(n.limits.Fuel)
	n.most.Store(n.limits.Bytes)
	return n
}
