package shell

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/rlimit"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/umask"
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

// graceBytes is the memory that a run may use when the memory is full at its start: enough to unset variables.
const graceBytes = 1 << 20

// take counts n more bytes, or fewer when n is negative. False: there are not as many,
// and nothing has been counted.
func (m *machine) take(n int) bool {
	if total := m.bytes.Add(int64(n)); n > 0 && total > m.most.Load() {
		m.bytes.Add(-int64(n))
		m.meet(ErrMemory)
		return false
	}
	return true
}

// memoryBatch is the number of bytes that a process takes from its machine at once.
const memoryBatch = 1 << 16

// Reserve counts n bytes that a command is about to hold, and Release counts them
// back; the rest is released when the command ends. ENOMEM means that the machine
// has not as many: nothing was reserved, and the command should give up with a message
// (GNU's is "memory exhausted"). A command reserves memory that grows with its input and stays:
// lines to sort, a table of keys. Buffers of fixed size need not be reserved. It is cheap
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

// Memory returns how many bytes the machine has counted, those of p among them, and its limit.
func (p *Proc) Memory() (used, limit int64) { return p.sh.m.bytes.Load(), p.sh.m.most.Load() }

// releaseAll releases the command's remaining reservation.
func (p *Proc) releaseAll() {
	p.sh.m.take(-p.reserved)
	p.held, p.reserved = 0, 0
}

// bequeath settles whose memory a forked process has: a child that its parent waits for
// sees the parent's memory; a concurrent one retains it when the parent changes it, so that it
// counts for both.
func (sh *interp) bequeath(c *interp, beside bool) {
	c.paramsCharged = 0
	if beside {
		c.memory, c.birth = sh.memory.Concurrent(int(sh.paidLevels)*levelStack), 0
		c.levels, c.paidLevels = 0, 0           // It has its own stack.
		sh.m.bytes.Add(int64(c.memory.Taken())) // The caller that starts the process checks the limit.
		return
	}
	c.memory, c.birth = sh.memory.Child(), c.epoch
}

// charge counts n more bytes of memory, or fewer. False: there are not as many, and the
// process ends.
func (ex *execution) charge(n int) bool {
	if ex.memory.Charge(n, ex.m) {
		return true
	}
	ex.failMemory(n)
	return false
}

// failMemory ends the process as bash does.
func (ex *execution) failMemory(n int) {
	if !ex.exiting {
		ex.errorf("xrealloc: cannot allocate %d bytes", n)
		ex.exiting = true
		ex.exit(2)
	}
}

// room reports whether a value of n bytes fits into memory; it ends the process when not.
func (ex *execution) room(n int) bool {
	ex.gas -= n >> 6
	if int64(n) <= ex.m.most.Load()-ex.m.bytes.Load() {
		return true
	}
	ex.m.meet(ErrMemory)
	ex.failMemory(n)
	return false
}

// hold charges for memory that only the running command holds: its expanded words.
func (ex *execution) hold(n int) bool {
	if !ex.charge(n) {
		return false
	}
	ex.memory.Hold(n)
	return true
}

// releaseHeld releases the memory held since held had this value.
func (e *expansion) releaseHeld(held int) {
	e.exec.charge(held - e.exec.memory.Held())
	e.exec.memory.SetHeld(held)
	if c := cap(e.stack); c > manyWords && len(e.stack) < c/4 {
		e.stack = append(make([]string, 0, 2*len(e.stack)), e.stack...)
	}
}

// manyWords is the number of words of a command that do not count as memory.
const manyWords = 1 << 12

// push adds a word to those of the command.
func (e *expansion) push(s string) {
	if len(e.stack) == cap(e.stack) && !e.growStack(1) {
		return
	}
	e.stack = append(e.stack, s)
}

// pushAll is push for a list.
func (e *expansion) pushAll(list []string) {
	if len(e.stack)+len(list) > cap(e.stack) && !e.growStack(len(list)) {
		return
	}
	e.stack = append(e.stack, list...)
}

// growStack charges for a stack with room for n more words.
func (e *expansion) growStack(n int) bool {
	need := len(e.stack) + n
	if need <= manyWords {
		return true
	}
	size := max(need, 2*cap(e.stack))
	if !e.exec.hold(16 * (size - cap(e.stack))) {
		return false
	}
	e.stack = append(make([]string, 0, size), e.stack...)
	return true
}

// The weights of values: texts below lightText count nothing by themselves.
const (
	lightText  = 256
	elemWeight = 32  // of an element of an array beside its text
	keyWeight  = 112 // of one of an associative array
	nameWeight = 200 // of the name of a variable or function, which is never forgotten
)

// arithWeight is the size of a compiled expression in bytes per byte of its text.
const arithWeight = 100

func textWeight(n int) int {
	if n < lightText {
		return 0
	}
	return n
}

// chargeCell charges n more bytes for a variable.
func (v *variables) chargeCell(c *cell, n int) bool {
	if !v.exec.charge(n) {
		return false
	}
	c.charged += n
	return true
}

// setText stores the value of a plain variable.
func (v *variables) setText(c *cell, s string) bool {
	if n := textWeight(len(s)); n != c.charged && !v.chargeCell(c, n-c.charged) {
		return false
	}
	c.store(s)
	return true
}

// slot returns the number of a name that a script has made up.
func (ex *execution) slot(name string) int {
	if n := ex.m.lib.symbols.known(name); n >= 0 {
		return n
	}
	if !ex.m.take(nameWeight + len(name)) {
		ex.failMemory(nameWeight + len(name))
		return slotUnderscore
	}
	return ex.m.lib.symbols.slot(strings.Clone(name))
}

// keep charges for texts of a table of the process: aliases, traps, history. They count until it
// ends, even if they are taken out again.
func (ex *execution) keep(list ...string) bool {
	n := 64
	for _, s := range list {
		n += len(s)
	}
	return ex.charge(n)
}

// rlimits returns the limits of the machine that ulimit shows.
func (m *machine) rlimits() rlimit.Machine {
	return rlimit.Machine{Files: m.limits.Files, Processes: m.limits.Processes}
}

// ulimitValue returns a limit as ulimit prints it, "" for an unknown resource.
func (ex *execution) ulimitValue(resource byte, hard bool) string {
	return ex.rlimit.Value(resource, hard, ex.m.rlimits())
}

func runUlimitBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "SHacdefiklmnpqrstuvxRTPb")
	if st >= 0 {
		return st
	}
	which := byte('f')
	soft, hard := false, false
	for _, f := range list {
		switch f.c {
		case 'S':
			soft = true
		case 'H':
			hard = true
		case 'a':
			return printLimits(sh, hard)
		default:
			which = f.c
		}
	}
	if sh.ulimitValue(which, false) == "" {
		return sh.fail("-%c: limit not supported here", which)
	}
	if len(rest) == 0 {
		return sh.outString(sh.ulimitValue(which, hard && !soft) + "\n")
	}
	if len(rest) > 1 {
		return sh.fail("too many arguments")
	}
	if !soft && !hard {
		soft, hard = true, true
	}
	limits, err := sh.rlimit.Set(rlimit.Change{Resource: which, Value: rest[0], Soft: soft, Hard: hard}, sh.m.rlimits())
	if err != nil {
		return sh.fail("%s", err)
	}
	sh.rlimit = limits
	return 0
}

func printLimits(sh *interp, hard bool) int {
	var b strings.Builder
	for _, r := range rlimit.Resources {
		fmt.Fprintf(&b, "%-20s %20s %s\n", r.Name, "("+r.Unit+")", sh.ulimitValue(r.Letter, hard))
	}
	return sh.outString(b.String())
}

// runTimesBuiltin prints the time since the shell began; the machine does not measure processor time.
func runTimesBuiltin(sh *interp, _ []string) int {
	took := sh.m.now().Unix() - sh.start
	return sh.outString(fmt.Sprintf("%dm%d.000s 0m0.000s\n0m0.000s 0m0.000s\n", took/60, took%60))
}

// runUmaskBuiltin shows or sets the mask.
func runUmaskBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "pS")
	if st >= 0 {
		return st
	}
	symbolic, reusable := false, false
	for _, f := range list {
		symbolic = symbolic || f.c == 'S'
		reusable = reusable || f.c == 'p'
	}
	if len(rest) > 0 {
		mask, err := umask.Parse(rest[0], sh.umask)
		if err != nil {
			return sh.fail("%s", err)
		}
		if sh.umask = mask; !symbolic {
			return 0
		}
		return sh.outString(umask.Symbolic(sh.umask) + "\n")
	}
	text := fmt.Sprintf("%04o", uint32(sh.umask))
	if symbolic {
		text = umask.Symbolic(sh.umask)
	}
	if reusable {
		text = map[bool]string{false: "umask ", true: "umask -S "}[symbolic] + text
	}
	return sh.outString(text + "\n")
}
