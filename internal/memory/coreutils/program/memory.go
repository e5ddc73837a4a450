package program

import (
	"reflect"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// MemoryGuard charges what an interpreter holds to the machine's memory. The interpreter says what it takes and cannot say
// what it no longer needs, so the charge is too high after a while. When the machine has no more, or the heap has grown by
// more than the charges, the guard collects garbage, measures how much the heap has grown since the interpreters of this
// machine began, and corrects its charge to that. So the heap grows by about the machine's memory at most, and garbage
// counts against nothing.
//
// The heap belongs to the whole program: another machine that grows at the same time counts for this one too, up to
// memoryError times what the interpreter has taken. Like [shell.Proc.Reserve] it is for the command's own goroutine.
type MemoryGuard struct {
	P *shell.Proc // nil: nothing is charged

	pool    *memoryPool // nil: nothing was charged yet
	pending int64       // taken, and not yet charged
	credit  int64       // that may be taken without a charge
	taken   int64       // since the beginning
	charged int64       // of the machine's memory
	checked int64       // taken when the heap was last looked at
}

// memoryPool is the budget that the guards of one machine share.
type memoryPool struct {
	guards  int          // guarded by pools
	charged atomic.Int64 // of all guards
	heap    int64        // when the first guard began, in bytes: objects, garbage among them
	others  int64        // what the machine had counted for others then, and files
}

// pools are the pools of machines in which interpreters run.
var pools = struct {
	sync.Mutex

	of map[*vfs.FS]*memoryPool
}{of: map[*vfs.FS]*memoryPool{}}

const (
	// memoryBatch is the number of bytes that the guard collects before it charges them.
	memoryBatch = 64 << 10
	// memorySlack is added to each reservation.
	memorySlack = 64 << 10
	// memoryParts is how often the heap is looked at while the machine's whole memory is taken.
	memoryParts = 16
	// memoryError bounds how much more than what it says an interpreter can hold.
	memoryError = 4
)

// Take counts n bytes that are about to be allocated; ENOMEM says that the machine has not as many.
func (g *MemoryGuard) Take(n int) error {
	if g.pending += int64(n); g.pending < memoryBatch || g.P == nil {
		return nil
	}
	size := g.pending
	g.pending = 0
	if g.pool == nil {
		g.join()
	}
	g.taken += size
	collecting.RLock()
	ok, err := g.fits(size)
	collecting.RUnlock()
	if ok || err != nil {
		return err
	}
	return g.settle(size)
}

// fits charges n bytes if that needs no measurement.
func (g *MemoryGuard) fits(n int64) (bool, error) {
	if g.credit >= n {
		g.credit -= n
		return true, nil
	}
	used, limit := g.P.Memory()
	room := limit - used - memorySlack
	if g.taken-g.checked >= limit/memoryParts {
		g.checked = g.taken
		if g.grown(heapObjects) > g.pool.charged.Load()+room { // with its garbage
			return false, nil
		}
	}
	if room < n {
		return false, nil
	}
	return true, g.charge(n)
}

// charge counts n bytes in the machine's memory.
func (g *MemoryGuard) charge(n int64) error {
	if err := g.P.Reserve(int(n)); err != nil {
		return err
	}
	g.charged += n
	g.pool.charged.Add(n)
	return nil
}

// settle measures what is held, collects garbage for it if need be, corrects the charge, and charges n more bytes.
func (g *MemoryGuard) settle(n int64) error {
	collecting.Lock()
	defer collecting.Unlock()
	grown := max(g.grown(heapObjects), 0)
	// The collector has run by itself if little is alive.
	if _, limit := g.P.Memory(); grown > limit/4 {
		runtime.GC()
		grown = max(g.grown(heapLive), 0)
	}
	rest := g.pool.charged.Load() - g.charged // of the other guards
	if held := min(max(grown-rest, 0), memoryError*g.taken); held < g.charged {
		g.P.Release(int(g.charged - held))
		g.pool.charged.Add(held - g.charged)
		g.charged = held
	}
	used, limit := g.P.Memory()
	// left is the memory that is really left: the charges of other guards may be too high, and this one's too low. A program that
	// lives at the limit must not run the collector for each piece.
	left := limit - (used - g.pool.charged.Load()) - min(grown, memoryError*g.taken+rest) - memorySlack
	least := limit / memoryParts / 2
	switch {
	case left < n+least:
		return g.refuse(limit, used, n)
	case limit-used-memorySlack >= n+least:
		return g.charge(n)
	}
	g.credit = min(left-n, 2*least)
	return nil
}

// refuse notes that the machine has met its limit.
func (g *MemoryGuard) refuse(limit, used, n int64) error {
	if err := g.P.Reserve(int(max(limit-used, 0) + n)); err != nil {
		return err
	}
	g.P.Release(int(max(limit-used, 0) + n)) // others have released memory in the meantime
	return syscall.ENOMEM
}

// Close ends the guard. What it has charged is released when the command ends.
func (g *MemoryGuard) Close() {
	if g.pool == nil {
		return
	}
	pools.Lock()
	defer pools.Unlock()
	g.pool.charged.Add(-g.charged)
	if g.pool.guards--; g.pool.guards == 0 {
		delete(pools.of, g.P.FS())
	}
	g.P.Release(int(g.charged))
	g.pool, g.charged = nil, 0
}

// join finds the pool of the machine.
func (g *MemoryGuard) join() {
	pools.Lock()
	defer pools.Unlock()
	pool := pools.of[g.P.FS()]
	if pool == nil {
		pool = &memoryPool{}
		pool.heap, pool.others = g.look(pool, heapObjects)
		pools.of[g.P.FS()] = pool
	}
	pool.guards++
	g.pool = pool
}

// The sizes of the heap that a guard measures.
const (
	heapObjects = "/memory/classes/heap/objects:bytes" // with garbage
	heapLive    = "/gc/heap/live:bytes"                // what the last collection left
)

// grown returns by how much the heap has grown for the interpreters of the machine.
func (g *MemoryGuard) grown(size string) int64 {
	heap, others := g.look(g.pool, size)
	return heap - g.pool.heap - (others - g.pool.others)
}

// look returns the size of the heap, and what of it the machine has counted for others.
func (g *MemoryGuard) look(pool *memoryPool, size string) (heap, others int64) {
	sample := []metrics.Sample{{Name: size}}
	metrics.Read(sample)
	used, _ := g.P.Memory()
	return int64(sample[0].Value.Uint64()), used - pool.charged.Load() + g.P.FS().Usage().Bytes
}

// The guard that measures holds collecting: it could not distinguish what others allocate meanwhile from what they hold.
var collecting sync.RWMutex

// GrowBuffer returns list with room for n more elements behind it. What a command holds of its input grows this way, or with
// [Append]: the machine counts the room before it is allocated, and ENOMEM says that there is none. What elements refer to is
// not counted.
func GrowBuffer[T any](p *shell.Proc, list []T, n int) ([]T, error) {
	need := len(list) + n
	if need <= cap(list) {
		return list, nil
	}
	size := max(need, 2*cap(list))
	if err := p.Reserve((size - cap(list)) * int(reflect.TypeFor[T]().Size())); err != nil {
		return list, err
	}
	return append(make([]T, 0, size), list...), nil
}

// Split is [strings.Split] for a text of the command, of which each part takes more than its bytes; see [GrowBuffer].
func Split(p *shell.Proc, text, sep string) ([]string, error) {
	if err := p.Reserve((strings.Count(text, sep) + 1) * int(reflect.TypeFor[string]().Size())); err != nil {
		return nil, err
	}
	return strings.Split(text, sep), nil
}

// Append is append for what a command holds of its input; see [GrowBuffer].
func Append[T any](p *shell.Proc, list []T, values ...T) ([]T, error) {
	list, err := GrowBuffer(p, list, len(values))
	if err != nil {
		return list, err
	}
	return append(list, values...), nil
}
