package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Code classifies an [Error]. The codes are stable: programs may switch on them,
// and one table ([Code.Exit]) maps them to exit statuses.
type Code string

// The codes.
const (
	Invalid     Code = "invalid"     // the caller's input is wrong; nothing was started
	NotFound    Code = "not_found"   // a path, command or sandbox does not exist
	Exists      Code = "exists"      // it exists already
	Conflict    Code = "conflict"    // the sandbox's present state does not allow it, such as a start while it is frozen
	Denied      Code = "denied"      // the policy or the host refuses it
	Unsupported Code = "unsupported" // the backend cannot enforce a rule that the spec requires
	Unavailable Code = "unavailable" // the backend does not work on this host
	Exhausted   Code = "exhausted"   // a limit or a resource ran out
	Timeout     Code = "timeout"     // the wall-clock limit or a deadline passed
	Canceled    Code = "canceled"    // the caller gave up
	Closed      Code = "closed"      // the sandbox is closed
	Internal    Code = "internal"    // a fault of agent-sandbox itself
)

// Sentinels for errors.Is: errors.Is(err, sandbox.ErrDenied) holds for every
// [Error] whose Code is Denied.
var (
	ErrInvalid     = &Error{Code: Invalid}
	ErrNotFound    = &Error{Code: NotFound}
	ErrExists      = &Error{Code: Exists}
	ErrConflict    = &Error{Code: Conflict}
	ErrDenied      = &Error{Code: Denied}
	ErrUnsupported = &Error{Code: Unsupported}
	ErrUnavailable = &Error{Code: Unavailable}
	ErrExhausted   = &Error{Code: Exhausted}
	ErrTimeout     = &Error{Code: Timeout}
	ErrCanceled    = &Error{Code: Canceled}
	ErrClosed      = &Error{Code: Closed}
	ErrInternal    = &Error{Code: Internal}
)

// Error is the only error type that this module returns from a public function.
type Error struct {
	Code    Code   // never empty
	Op      string // what was being done: "create", "start", "load config"; may be empty
	Backend string // the driver's name; empty before one is chosen
	ID      string // the sandbox; empty before it exists
	Hint    string // one clause with the fix; empty when there is none
	Err     error  // the cause; may be nil
}

// Errorf makes an Error with a formatted cause; %w wraps as in fmt.Errorf.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// WithHint sets the hint and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error is one line without a full stop and without the hint.
func (e *Error) Error() string {
	var b strings.Builder
	for _, part := range []string{e.Backend, e.Op} {
		if part != "" {
			b.WriteString(part)
			b.WriteString(": ")
		}
	}
	if e.Err != nil {
		b.WriteString(e.Err.Error())
	} else {
		b.WriteString(string(e.Code))
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is a sentinel of this package with the same code, or
// the standard library's error for it (fs.ErrNotExist, fs.ErrExist,
// fs.ErrPermission, fs.ErrClosed, context.DeadlineExceeded, context.Canceled,
// errors.ErrUnsupported).
func (e *Error) Is(target error) bool {
	if t, ok := target.(*Error); ok {
		return t.Err == nil && t.Code == e.Code
	}
	std, ok := standard[e.Code]
	return ok && target == std
}

var standard = map[Code]error{
	NotFound:    fs.ErrNotExist,
	Exists:      fs.ErrExist,
	Denied:      fs.ErrPermission,
	Closed:      fs.ErrClosed,
	Timeout:     context.DeadlineExceeded,
	Canceled:    context.Canceled,
	Unsupported: errors.ErrUnsupported,
}

// CodeOf returns the code of the first Error in err's chain, the matching code
// for the standard library's errors, Internal for any other error and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	for code, std := range standard {
		if errors.Is(err, std) {
			return code
		}
	}
	return Internal
}

// HintOf returns the first hint in err's chain, or "".
func HintOf(err error) string {
	var e *Error
	for errors.As(err, &e) {
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}

// Exit statuses of the command; the command inside keeps its own.
const (
	ExitTimeout       = 124 // the wall-clock limit passed
	ExitFailed        = 125 // the sandbox failed
	ExitNotExecutable = 126 // the command is not executable
	ExitNotFound      = 127 // the command does not exist in the sandbox
	ExitInterrupted   = 130 // the user interrupted us
)

// Exit is the exit status that a command line reports for an error of this code.
func (c Code) Exit() int {
	switch c {
	case Timeout:
		return ExitTimeout
	case Canceled:
		return ExitInterrupted
	default:
		return ExitFailed
	}
}

// codeContextEnd gives err the code Timeout or Canceled when it was caused by the end of the caller's ctx: the operation that waited at that
// moment, such as the start of a guest, did not fail itself.
func codeContextEnd(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		return &Error{Code: CodeOf(ended), Err: err}
	}
	return err
}

// wrap puts op, backend and id on err, once.
func wrap(err error, op, backend, id string) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		out := *e
		if top, ok := err.(*Error); !ok || top != e { //nolint:errorlint // the outermost value decides whether text was added
			out.Err = err
		}
		setIfEmpty(&out.Op, op)
		setIfEmpty(&out.Backend, backend)
		setIfEmpty(&out.ID, id)
		return &out
	}
	return &Error{Code: CodeOf(err), Op: op, Backend: backend, ID: id, Err: err}
}

func setIfEmpty(s *string, v string) {
	if *s == "" {
		*s = v
	}
}
