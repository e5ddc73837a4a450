package hook

import (
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Thrown is what a hook has thrown, for errors.AsType. Its texts are the hook's and are not safe for a terminal.
type Thrown struct {
	Name    string   `json:"name,omitempty"` // such as "TypeError"; "": it was no Error
	Message string   `json:"message"`        // at most 4 KiB
	File    string   `json:"file,omitempty"` // relative to the assistant's directory; "": not known
	Line    int      `json:"line,omitempty"` // from 1
	Column  int      `json:"column,omitempty"`
	Stack   []string `json:"stack,omitempty"` // "FUNCTION (FILE:LINE:COLUMN)", innermost first, at most 20
}

// Error is "MESSAGE (FILE:LINE:COLUMN)", and has the name of an Error of a kind of its own in front.
func (t *Thrown) Error() string {
	text := t.Message
	if t.Name != "" && t.Name != "Error" {
		text = t.Name + ": " + text
	}
	if at := t.at(); at != "" {
		text += " (" + at + ")"
	}
	return text
}

func (t *Thrown) at() string {
	if t.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", t.File, t.Line, t.Column)
}

// kind is why a script ended without a value.
type kind string

const (
	thrown    kind = "thrown"
	tooLong   kind = "time"
	tooBig    kind = "memory"
	tooDeep   kind = "depth"
	tooNested kind = "nesting"  // of data or code, not of calls
	pending   kind = "pending"  // a promise that nothing can settle any more
	badValue  kind = "value"    // it returned what is not JSON, or too much
	badCode   kind = "source"   // it cannot be compiled
	canceled  kind = "canceled" //
	broken    kind = "broken"   // the engine failed
)

// fault is the end of a script without a value, as it goes between us and a worker.
type fault struct {
	Kind kind   `json:"kind"`
	Text string `json:"text,omitempty"` // instead of the usual words for the kind
	Thrown
}

func (f *fault) Error() string {
	text := f.Text
	if text == "" {
		text = string(f.Kind)
	}
	if at := f.at(); at != "" {
		text += " (" + at + ")"
	}
	return text
}

// failure is the error of a fault for callers.
func (f *fault) failure(op string, l Limits) error {
	err := f.coded(l)
	err.Op = op
	return err
}

func (f *fault) coded(l Limits) *sandbox.Error {
	at := ""
	if f.at() != "" {
		at = " (" + f.at() + ")"
	}
	switch f.Kind {
	case thrown:
		t := f.Thrown
		return &sandbox.Error{Code: sandbox.Denied, Err: &t}
	case tooLong:
		return sandbox.Errorf(sandbox.Timeout, "the script ran for longer than %v%s", l.Time, at)
	case tooBig:
		return sandbox.Errorf(sandbox.Exhausted, "the script needs more than %s of memory%s", sandbox.Bytes(l.Memory), at)
	case tooNested:
		return sandbox.Errorf(sandbox.Exhausted, "the script makes data or code that nests too deeply%s", at)
	case tooDeep:
		return sandbox.Errorf(sandbox.Exhausted, "the script nests more than %d calls%s", l.Depth, at).
			WithHint("a function may be calling itself without end")
	case pending:
		return sandbox.Errorf(sandbox.Invalid, "the hook waits for a promise that nothing settles").
			WithHint("there are no timers; everything of ctx returns when it is done")
	case badValue, badCode:
		return sandbox.Errorf(sandbox.Invalid, "%s%s", f.Text, at)
	case canceled:
		return sandbox.Errorf(sandbox.Canceled, "canceled%s", at)
	default:
		return sandbox.Errorf(sandbox.Internal, "the script's engine failed: %s", f.Text)
	}
}

// clip shortens a text of a script to n bytes.
func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "..."
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
