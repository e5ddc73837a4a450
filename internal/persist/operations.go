package persist

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Operations of a persistent sandbox. The keeper passes all others to the instance; see [Operator].
const (
	opStatus         = "status"
	opStop           = "stop"
	opSnapshot       = "snapshot"
	opRestore        = "restore"
	opSnapshots      = "snapshots"
	opRemoveSnapshot = "remove-snapshot"
	opSaveState      = "save-state"
	opRest           = "rest"
	opRefused        = "refused"
	opAdopt          = "adopt"
	opFreeze         = "freeze"
	opThaw           = "thaw"
)

// Operator is implemented by instances of drivers with further operations, and by instances of [Driver], which pass
// them to the instance in the keeper.
type Operator interface {
	// Operate performs the operation called name. arg is JSON or nil; the answer is written as it arrives. Unsupported:
	// the operation is unknown.
	Operate(ctx context.Context, name string, arg json.RawMessage, answer io.Writer) error
}

// Rester is implemented by instances that can release their files for a moment.
type Rester interface {
	// Rest ends the processes that commands have left, and starts no processes until release is called. Denied:
	// commands run.
	Rest(ctx context.Context) (release func(), err error)
}

// argument is the argument of the operations on snapshots.
type argument struct {
	Name string `json:"name,omitempty"` // of the snapshot
	Dir  string `json:"dir,omitempty"`  // of opSaveState
}

// resting is the answer of opRest when the sandbox rests, which it does until the client disconnects.
const resting = "resting\n"

// Perform performs an operation of [Operated] on an instance that this process holds.
func Perform(ctx context.Context, i sandbox.Instance, op string, arg json.RawMessage, answer io.Writer) error {
	var a argument
	switch op {
	case opSnapshot, opRestore, opRemoveSnapshot, opSaveState:
		if err := json.Unmarshal(arg, &a); err != nil {
			return sandbox.Errorf(sandbox.Invalid, "the argument of %s: %w", op, err)
		}
	}
	switch op {
	case opSaveState:
		k, ok := sandbox.As[sandbox.StateKeeper](i)
		if !ok {
			return sandbox.Errorf(sandbox.Unsupported, "sandboxes of this backend cannot be forked")
		}
		return k.SaveState(ctx, a.Dir, a.Name)
	case opSnapshot, opRestore, opRemoveSnapshot, opSnapshots:
		return performSnapshot(ctx, i, op, a.Name, answer)
	case opRest:
		return rest(ctx, i, answer)
	case opFreeze, opThaw:
		return performFreeze(ctx, i, op)
	}
	if o, ok := sandbox.As[Operator](i); ok {
		return o.Operate(ctx, op, arg, answer)
	}
	return unknown(op)
}

func unknown(op string) error {
	return sandbox.Errorf(sandbox.Unsupported, "no operation %.50q", op)
}

func performSnapshot(ctx context.Context, i sandbox.Instance, op, name string, answer io.Writer) error {
	s, ok := sandbox.As[sandbox.Snapshotter](i)
	if !ok {
		return sandbox.Errorf(sandbox.Unsupported, "sandboxes of this backend have no snapshots")
	}
	if op == opSnapshots {
		list, err := s.Snapshots(ctx)
		if err != nil {
			return err
		}
		return json.NewEncoder(answer).Encode(list)
	}
	if err := sandbox.CheckSnapshot(name); err != nil {
		return err
	}
	switch op {
	case opRestore:
		return s.Restore(ctx, name)
	case opRemoveSnapshot:
		return s.RemoveSnapshot(ctx, name)
	}
	return s.Snapshot(ctx, name)
}

func performFreeze(ctx context.Context, i sandbox.Instance, op string) error {
	f, ok := sandbox.As[sandbox.Freezer](i)
	if !ok {
		return sandbox.Errorf(sandbox.Unsupported, "sandboxes of this backend cannot be frozen")
	}
	if op == opThaw {
		return f.Thaw(ctx)
	}
	return f.Freeze(ctx)
}

// rest calls Rest and releases the sandbox when ctx ends.
func rest(ctx context.Context, i sandbox.Instance, answer io.Writer) error {
	release := func() {}
	if r, ok := sandbox.As[Rester](i); ok {
		var err error
		if release, err = r.Rest(ctx); err != nil {
			return err
		}
	}
	defer release()
	if _, err := io.WriteString(answer, resting); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// maxAnswer bounds an answer that is read into memory.
const maxAnswer = 16 << 20

// whole is a buffer of at most maxAnswer bytes.
type whole struct{ bytes.Buffer }

func (w *whole) Write(p []byte) (int, error) {
	if w.Len()+len(p) > maxAnswer {
		return 0, sandbox.Errorf(sandbox.Internal, "the answer has more than %d bytes", maxAnswer)
	}
	return w.Buffer.Write(p)
}

// Operated performs an operation on a sandbox, in this process or in the one that holds it, which calls [Perform].
type Operated func(ctx context.Context, op string, arg any, answer io.Writer) error

// Ask performs an operation and decodes its answer, which is JSON.
func (o Operated) Ask(ctx context.Context, op string, arg, into any) error {
	var answer whole
	if err := o(ctx, op, arg, &answer); err != nil {
		return err
	}
	if err := json.Unmarshal(answer.Bytes(), into); err != nil {
		return sandbox.Errorf(sandbox.Internal, "the answer to %s: %w", op, err)
	}
	return nil
}

// Snapshot implements [sandbox.Snapshotter].
func (o Operated) Snapshot(ctx context.Context, name string) error {
	return o(ctx, opSnapshot, argument{Name: name}, nil)
}

// Restore implements [sandbox.Snapshotter].
func (o Operated) Restore(ctx context.Context, name string) error {
	return o(ctx, opRestore, argument{Name: name}, nil)
}

// RemoveSnapshot implements [sandbox.Snapshotter].
func (o Operated) RemoveSnapshot(ctx context.Context, name string) error {
	return o(ctx, opRemoveSnapshot, argument{Name: name}, nil)
}

// Snapshots implements [sandbox.Snapshotter].
func (o Operated) Snapshots(ctx context.Context) (list []sandbox.SnapshotInfo, err error) {
	return list, o.Ask(ctx, opSnapshots, nil, &list)
}

// Freeze implements [sandbox.Freezer].
func (o Operated) Freeze(ctx context.Context) error { return o(ctx, opFreeze, nil, nil) }

// Thaw implements [sandbox.Freezer].
func (o Operated) Thaw(ctx context.Context) error { return o(ctx, opThaw, nil, nil) }

// NameFrozen adds the command that thaws a persistent sandbox to the error of a start in a frozen one.
func NameFrozen(err error, name string) error {
	if sandbox.CodeOf(err) != sandbox.Conflict {
		return err
	}
	return sandbox.Errorf(sandbox.Conflict, "sandbox %s is frozen", name).WithHint("'agent-sandbox thaw %s' continues it", name)
}

// SaveState performs what [sandbox.StateKeeper] describes.
func SaveState(ctx context.Context, o Operated, dir, snapshot string) error {
	return o(ctx, opSaveState, argument{Name: snapshot, Dir: dir}, nil)
}

// Operate implements [Operator].
func (o Operated) Operate(ctx context.Context, name string, arg json.RawMessage, answer io.Writer) error {
	if arg == nil {
		return o(ctx, name, nil, answer)
	}
	return o(ctx, name, arg, answer)
}

// Rest implements [Rester].
func (o Operated) Rest(ctx context.Context) (release func(), err error) {
	return session.Hold(ctx, func(ctx context.Context, answer io.Writer) error { return o(ctx, opRest, nil, answer) })
}
