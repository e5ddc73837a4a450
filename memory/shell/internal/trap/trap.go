// Package trap stores the commands of the trap builtin.
package trap

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
)

// Pseudo signals, beside the numbers of package signal.
const (
	Exit   = 0
	Err    = 65
	Debug  = 66
	Return = 67
)

// Suspended holds the pseudo signals whose traps do not run in a function.
type Suspended uint8

const (
	suspendErr Suspended = 1 << iota
	suspendDebug
	suspendReturn
)

// Table holds the commands of one process; the zero value has none. A copy may be changed apart from it.
type Table struct {
	commands  map[int]string // "" ignores the signal; never changed, only replaced
	suspended Suspended
	inherited bool   // the commands are the parent's: a subshell lists them, and runs few
	locked    uint64 // bits of signals that the process ignores for good
}

// IsUnused reports whether no trap has been set, not even one that was removed again.
func (t *Table) IsUnused() bool { return t.commands == nil }

// Get returns the command of a signal, "" for an ignored one.
func (t *Table) Get(n int) (command string, ok bool) {
	command, ok = t.commands[n]
	return command, ok
}

// Has reports whether there is a command for the signal.
func (t *Table) Has(n int) bool { return t.commands[n] != "" }

// Owns reports whether there is a command that this process has set itself.
func (t *Table) Owns(n int) bool { return !t.inherited && t.Has(n) }

// IsActive reports whether the command of a pseudo signal runs here. A subshell or function inherits those of ERR with
// errtrace, and those of DEBUG and RETURN with functrace.
func (t *Table) IsActive(n int, o option.Set) bool {
	if !t.Has(n) {
		return false
	}
	switch n {
	case Err:
		return t.suspended&suspendErr == 0 && (!t.inherited || o&option.ErrTrace != 0)
	case Debug:
		return t.suspended&suspendDebug == 0 && (!t.inherited || o&option.FuncTrace != 0)
	case Return:
		return t.suspended&suspendReturn == 0 && (!t.inherited || o&option.FuncTrace != 0)
	}
	return true
}

// Numbers returns the signals that have a command or are ignored, in order.
func (t *Table) Numbers() []int { return slices.Sorted(maps.Keys(t.commands)) }

// Set replaces the command of a signal.
func (t *Table) Set(n int, command string) {
	t.change(n, func(commands map[int]string) { commands[n] = command })
}

// Reset removes the command of a signal.
func (t *Table) Reset(n int) {
	t.change(n, func(commands map[int]string) { delete(commands, n) })
}

func (t *Table) change(n int, change func(map[int]string)) {
	commands := make(map[int]string, len(t.commands)+1)
	maps.Copy(commands, t.commands)
	change(commands)
	t.commands = commands
	switch n {
	case Err:
		t.suspended &^= suspendErr
	case Debug:
		t.suspended &^= suspendDebug
	case Return:
		t.suspended &^= suspendReturn
	}
}

// Clear removes all commands.
func (t *Table) Clear() { t.commands = nil }

// Inherit marks the commands as those of the parent process.
func (t *Table) Inherit() { t.inherited = true }

// Adopt makes all inherited commands this process's own.
func (t *Table) Adopt() { t.inherited = false }

// Disinherit removes the inherited commands that a subshell does not take over once it sets a trap of its own:
// ignored signals stay ignored.
func (t *Table) Disinherit(o option.Set) {
	if !t.inherited {
		return
	}
	t.inherited = false
	commands := maps.Clone(t.commands)
	maps.DeleteFunc(commands, func(n int, command string) bool {
		switch n {
		case Err:
			return o&option.ErrTrace == 0
		case Debug, Return:
			return o&option.FuncTrace == 0
		}
		return command != ""
	})
	t.commands = commands
}

// Lock ignores the signals with the bits for good, as a shell does with those that were ignored when it began.
func (t *Table) Lock(bits uint64) {
	t.locked = bits
	if bits == 0 {
		return
	}
	t.commands = map[int]string{}
	for n := 1; n <= signal.RTMAX; n++ {
		if t.IsLocked(n) {
			t.commands[n] = ""
		}
	}
}

// IsLocked reports whether the process ignores the signal for good.
func (t *Table) IsLocked(n int) bool {
	return n > 0 && n <= signal.RTMAX && t.locked&(1<<(n&63)) != 0
}

// EnterFunction suspends the traps that a function does not inherit; traced functions inherit those of DEBUG and
// RETURN. Its result is the argument of LeaveFunction.
func (t *Table) EnterFunction(traced bool, o option.Set) Suspended {
	before := t.suspended
	if t.commands == nil {
		return before
	}
	if o&option.FuncTrace == 0 && !traced {
		t.suspended |= suspendDebug | suspendReturn
	}
	if o&option.ErrTrace == 0 {
		t.suspended |= suspendErr
	}
	return before
}

// LeaveFunction undoes EnterFunction.
func (t *Table) LeaveFunction(before Suspended) { t.suspended = before }

// Number returns the number of a signal or pseudo signal, -1 for an unknown name.
func Number(name string) int {
	switch strings.ToUpper(name) {
	case "EXIT", "SIGEXIT":
		return Exit
	case "ERR", "SIGERR":
		return Err
	case "DEBUG", "SIGDEBUG":
		return Debug
	case "RETURN", "SIGRETURN":
		return Return
	}
	return signal.Number(name)
}

// Name returns the name of a signal or pseudo signal; in POSIX mode signals have no prefix.
func Name(n int, posix bool) string {
	switch n {
	case Exit:
		return "EXIT"
	case Err:
		return "ERR"
	case Debug:
		return "DEBUG"
	case Return:
		return "RETURN"
	}
	if posix {
		return signal.Name(n)
	}
	return "SIG" + signal.Name(n)
}
