package program

import (
	"runtime/metrics"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// MemoryGuard watches over a command that may hold much: what it holds cannot be seen from
// outside, so that it counts what it has taken and, once that is much, looks at what the whole
// program holds. The zero value is ready.
type MemoryGuard struct {
	P              *shell.Proc // asked whether there is room for a large value; nil: not asked
	taken, checked int64
}

const (
	// memoryLarge is a value that the machine itself must have room for.
	memoryLarge = 64 << 10
	// memoryFree is the total that a command may take before the guard checks the heap, in bytes.
	memoryFree = 256 << 20
	// memoryStep is the amount that it may take between two checks, in bytes.
	memoryStep = 32 << 20
	// memoryFull bounds the heap while a command takes more than memoryFree, in bytes.
	memoryFull = 1 << 30
)

// Take counts n bytes; ENOMEM says that it is too much.
func (g *MemoryGuard) Take(n int) error {
	if n >= memoryLarge && g.P != nil {
		if err := g.P.Reserve(n); err != nil {
			return err
		}
		g.P.Release(n)
	}
	g.taken += int64(n)
	if g.taken < memoryFree || g.taken-g.checked < memoryStep {
		return nil
	}
	g.checked = g.taken
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() == metrics.KindUint64 && sample[0].Value.Uint64() > memoryFull {
		return syscall.ENOMEM
	}
	return nil
}

// GrowBuffer returns b with room for n more bytes behind it. What a command holds of its input grows
// this way: the machine counts it and returns ENOMEM when it is used up.
func GrowBuffer(p *shell.Proc, b []byte, n int) ([]byte, error) {
	need := len(b) + n
	if need <= cap(b) {
		return b, nil
	}
	size := max(need, 2*cap(b))
	if err := p.Reserve(size - cap(b)); err != nil {
		return b, err
	}
	return append(make([]byte, 0, size), b...), nil
}
