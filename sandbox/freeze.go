package sandbox

import "context"

// Freezer is implemented by instances whose commands can be stopped and continued as they are.
type Freezer interface {
	// Freeze stops all processes of commands between two instructions, also those that commands have left running. When it returns,
	// none runs. Their memory and open files stay. Timers of the kernel go on, and a process handles them after Thaw; those of a
	// sandbox in memory stop.
	//
	// Until Thaw, Start fails with Conflict. Operations on files, Status, snapshots, Dial and Listen work; a connection waits for Thaw,
	// and so does a signal that a command handles. Close, and the stop of a persistent sandbox, end the processes without running them
	// again. The time counts for limits of time: the wall-clock limit kills a frozen command too.
	//
	// Freeze is idempotent. On an error no process is stopped: ctx has ended, Unavailable: processes could not be stopped, or
	// Unsupported.
	Freeze(ctx context.Context) error
	// Thaw continues the processes that Freeze has stopped. A process that a signal had stopped before stays stopped. Shells with job
	// control do not notice that their jobs were stopped; a program that handles SIGCONT receives it. Thaw of a sandbox that is not
	// frozen does nothing.
	Thaw(ctx context.Context) error
}

// Frozen returns the error of all drivers for a command that is to be started in a frozen sandbox: Conflict.
func Frozen() *Error {
	return Errorf(Conflict, "the sandbox is frozen").WithHint("thaw it")
}

// Freeze stops all commands as they are until [Sandbox.Thaw]; see [Freezer]. Unsupported: the sandbox has no place in which its
// commands could be stopped together.
func (s *Sandbox) Freeze(ctx context.Context) error {
	return s.freezer("freeze", func(f Freezer) error { return f.Freeze(ctx) })
}

// Thaw continues the commands of a frozen sandbox; see [Freezer].
func (s *Sandbox) Thaw(ctx context.Context) error {
	return s.freezer("thaw", func(f Freezer) error { return f.Thaw(ctx) })
}

func (s *Sandbox) freezer(op string, do func(Freezer) error) error {
	if err := s.usable(op); err != nil {
		return err
	}
	f, ok := As[Freezer](s.instance)
	if !ok {
		return s.wrap(Errorf(Unsupported, "sandboxes of %s cannot be frozen", s.driver), op)
	}
	return s.wrap(do(f), op)
}
