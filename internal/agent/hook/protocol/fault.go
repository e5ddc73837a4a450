package protocol

import (
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Thrown is an error that a hook threw, for errors.AsType. The hook wrote its texts: escape them before a terminal shows them.
type Thrown struct {
	Name    string   `json:"name,omitempty"` // such as "TypeError"; "": the value was not an Error
	Message string   `json:"message"`        // at most 4 KiB
	File    string   `json:"file,omitempty"` // relative to the assistant's directory; "": unknown
	Line    int      `json:"line,omitempty"` // from 1
	Column  int      `json:"column,omitempty"`
	Stack   []string `json:"stack,omitempty"` // "FUNCTION (FILE:LINE:COLUMN)", innermost first, at most 20
}

// Error returns "MESSAGE (FILE:LINE:COLUMN)", preceded by the name of an Error of a special class.
func (t *Thrown) Error() string {
	text := t.Message
	if t.Name != "" && t.Name != "Error" {
		text = t.Name + ": " + text
	}
	if at := t.Place(); at != "" {
		text += " (" + at + ")"
	}
	return text
}

// Place returns "FILE:LINE:COLUMN", or "" for an unknown place.
func (t *Thrown) Place() string {
	if t.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", t.File, t.Line, t.Column)
}

// Kind is the reason why a script ended without a value.
type Kind string

// The kinds.
const (
	Uncaught        Kind = "thrown"
	TimeExceeded    Kind = "time"
	MemoryExceeded  Kind = "memory"
	DepthExceeded   Kind = "depth"
	NestingExceeded Kind = "nesting"  // of data or code, not of calls
	PendingPromise  Kind = "pending"  // the hook returned a promise that can never settle
	InvalidValue    Kind = "value"    // the hook returned a value that is not JSON, or is too large
	InvalidSource   Kind = "source"   // the script does not compile
	Canceled        Kind = "canceled" // by the context
	EngineFailed    Kind = "broken"
)

// Fault describes a script that ended without a value.
type Fault struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text,omitempty"` // replaces the kind's default text
	Thrown
}

// Error returns "TEXT (FILE:LINE:COLUMN)".
func (f *Fault) Error() string {
	text := f.Text
	if text == "" {
		text = string(f.Kind)
	}
	if at := f.Place(); at != "" {
		text += " (" + at + ")"
	}
	return text
}

// Failure returns the error for callers of op. l are the limits under which the script ran.
func (f *Fault) Failure(op string, l Limits) error {
	err := f.coded(l)
	err.Op = op
	return err
}

func (f *Fault) coded(l Limits) *sandbox.Error {
	at := ""
	if f.Place() != "" {
		at = " (" + f.Place() + ")"
	}
	switch f.Kind {
	case Uncaught:
		t := f.Thrown
		return &sandbox.Error{Code: sandbox.Denied, Err: &t}
	case TimeExceeded:
		return sandbox.Errorf(sandbox.Timeout, "the script ran for longer than %v%s", l.Time, at)
	case MemoryExceeded:
		return sandbox.Errorf(sandbox.Exhausted, "the script needs more than %s of memory%s", sandbox.Bytes(l.Memory), at)
	case NestingExceeded:
		return sandbox.Errorf(sandbox.Exhausted, "the script makes data or code that nests too deeply%s", at)
	case DepthExceeded:
		return sandbox.Errorf(sandbox.Exhausted, "the script nests more than %d calls%s", l.Depth, at).
			WithHint("a function may be calling itself without end")
	case PendingPromise:
		return sandbox.Errorf(sandbox.Invalid, "the hook waits for a promise that nothing settles").
			WithHint("there are no timers; everything of ctx returns when it is done")
	case InvalidValue, InvalidSource:
		return sandbox.Errorf(sandbox.Invalid, "%s%s", f.Text, at)
	case Canceled:
		return sandbox.Errorf(sandbox.Canceled, "canceled%s", at)
	default:
		return sandbox.Errorf(sandbox.Internal, "the script's engine failed: %s", f.Text)
	}
}

// Clip shortens s to n bytes and makes it valid UTF-8.
func Clip(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "..."
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
