package shell

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Proc is a command while it runs: its arguments, its streams and the machine that
// it sees. It belongs to one goroutine; a command that starts more must wait for
// them, and only the streams, FS and Context may be used from those.
type Proc struct {
	Args   []string  // Args[0] is the name it was called by; never empty
	Stdin  io.Reader // never nil; unbuffered; what is not read stays for the next reader
	Stdout io.Writer // never nil; unbuffered
	Stderr io.Writer // never nil; unbuffered

	sh       *interp
	as       asker
	own      *process.Process    // its place in the process table, if anybody has asked; under m.mu
	command  *Command            // nil: none that is registered
	replaced *builtin            // in whose place command stands; nil: it was called as a program
	declArgs map[int]*assignCode // of replaced
	env      []string            // own environment; nil: the exported variables of sh
	ctx      context.Context     //nolint:containedctx // A process has one, as it has a directory.
	gas      int
	rng      *rand.Rand

	held, reserved int // memory: told by the command, and taken from the machine
}

// ErrFuel is the error of work that goes beyond the limit; the whole run ends with it.
var ErrFuel = errors.New("limit of work reached")

// Name returns what the command calls itself in messages: the last element of Args[0].
func (p *Proc) Name() string {
	name := p.Args[0]
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			return name[i+1:]
		}
	}
	return name
}

// Context ends when the process is killed, its machine stops, or its time is over.
func (p *Proc) Context() context.Context { return p.ctx }

// Spend takes n units of fuel: one is about a line, 64 bytes or a turn of a loop. An
// error means that the process has to end now: return p.Status(err). It is cheap
// enough for inner loops.
func (p *Proc) Spend(n int) error {
	if p.gas -= n; p.gas >= 0 {
		return nil
	}
	need := -p.gas
	p.gas = 0
	if err := p.ctx.Err(); err != nil {
		return context.Cause(p.ctx)
	}
	if err := p.sh.m.takeFuel(need + fuelBatch); err != nil {
		return err
	}
	p.gas = fuelBatch
	return nil
}

// fuelBatch is how much a process takes from its machine at once. It bounds how long
// a process goes on after its context has ended.
const fuelBatch = 1024

// Status returns the exit status for an error that ends a command: 141 for a pipe that
// nobody reads, 128+n when signal n ended the process, otherwise 1.
func (p *Proc) Status(err error) int {
	if s := process.KillSignal(err); s != 0 {
		return 128 + int(s)
	}
	if p.ctx.Err() != nil || errors.Is(err, ErrFuel) {
		if s := process.KillSignal(context.Cause(p.ctx)); s != 0 {
			return 128 + int(s)
		}
		return 128 + int(syscall.SIGKILL)
	}
	if Errno(err) == syscall.EPIPE {
		return 128 + int(syscall.SIGPIPE)
	}
	return 1
}

// WriteFailed returns the exit status after a failed write to Stdout. Only errors other
// than a pipe that nobody reads, and the end of the process, are worth a message, which it writes.
func (p *Proc) WriteFailed(err error) int {
	status := p.Status(err)
	if status == 1 {
		p.Warn("write error: %s", Strerror(err))
	}
	return status
}

// FS returns the file system. Paths for it are absolute: see Abs.
func (p *Proc) FS() *vfs.FS { return p.sh.m.fs }

// Cred returns whose rights the process has.
func (p *Proc) Cred() vfs.Cred {
	c := p.sh.cred
	c.Proc = &p.as
	return c
}

// Dir returns the absolute path of the working directory.
func (p *Proc) Dir() string { return p.sh.dir }

// Umask returns the permissions that new files do not get.
func (p *Proc) Umask() fs.FileMode { return p.sh.umask }

// Now returns the machine's time, which may be frozen or shifted.
func (p *Proc) Now() time.Time { return p.sh.m.now() }

// Rand returns the process's source of random numbers; with a fixed seed of the
// machine it is the same in each run.
func (p *Proc) Rand() *rand.Rand {
	if p.rng == nil {
		p.rng = p.sh.m.newRand()
	}
	return p.rng
}

// Commands returns the programs of the machine, sorted by name.
func (p *Proc) Commands() []*Command { return p.sh.m.list() }
