package virtual

import (
	"context"
	"encoding/json"
	"io"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Operate performs an operation of [Workspace]; arg and answer are JSON. Unsupported: the operation is unknown.
func (i *instance) Operate(ctx context.Context, name string, arg json.RawMessage, answer io.Writer) error {
	out := json.NewEncoder(answer)
	switch name {
	case OpChanges:
		list, err := i.Changes()
		for _, c := range list {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := out.Encode(c); err != nil {
				return err
			}
		}
		return err
	case OpPatch:
		return i.operatePatch(ctx, arg, out)
	case OpApply:
		var o ApplyOptions
		if err := json.Unmarshal(arg, &o); err != nil {
			return sandbox.Errorf(sandbox.Invalid, "the argument of %s: %w", name, err)
		}
		done, err := i.Apply(ctx, o)
		if err != nil {
			return err
		}
		return out.Encode(done)
	case OpDiscard:
		return i.Discard()
	}
	return sandbox.Errorf(sandbox.Unsupported, "no operation %.50q", name)
}
