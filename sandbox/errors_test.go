package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
)

func Test_Errors_Match_Sentinels_And_The_Standard_Library(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		target error
		want   bool
	}{
		{"a code matches its sentinel", Errorf(Denied, "no"), ErrDenied, true},
		{"a code does not match another sentinel", Errorf(Denied, "no"), ErrNotFound, false},
		{"a wrapped error matches", fmt.Errorf("outer: %w", Errorf(Timeout, "late")), ErrTimeout, true},
		{"not found is fs.ErrNotExist", Errorf(NotFound, "no file"), fs.ErrNotExist, true},
		{"exists is fs.ErrExist", Errorf(Exists, "there"), fs.ErrExist, true},
		{"denied is fs.ErrPermission", Errorf(Denied, "no"), fs.ErrPermission, true},
		{"timeout is context.DeadlineExceeded", Errorf(Timeout, "late"), context.DeadlineExceeded, true},
		{"canceled is context.Canceled", Errorf(Canceled, "stop"), context.Canceled, true},
		{"unsupported is errors.ErrUnsupported", Errorf(Unsupported, "no isolation"), errors.ErrUnsupported, true},
		{"the cause matches too", Errorf(Internal, "x: %w", fs.ErrClosed), fs.ErrClosed, true},
		{"an error with a cause is not a sentinel", ErrDenied, Errorf(Denied, "no"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := errors.Is(c.err, c.target); got != c.want {
				t.Errorf("errors.Is(%v, %v) is %v", c.err, c.target, got)
			}
		})
	}
}

func Test_CodeOf_Finds_The_Code_Of_Any_Error(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want Code
	}{
		{"nil has none", nil, ""},
		{"an Error has its own", fmt.Errorf("a: %w", Errorf(Exhausted, "full")), Exhausted},
		{"the outer of two", Errorf(Unavailable, "a: %w", Errorf(Denied, "b")), Unavailable},
		{"a missing file", &fs.PathError{Op: "open", Path: "x", Err: os.ErrNotExist}, NotFound},
		{"an ended context", context.DeadlineExceeded, Timeout},
		{"anything else", errors.New("x"), Internal},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := CodeOf(c.err); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func Test_Wrap_Names_The_Operation_Once(t *testing.T) {
	inner := Errorf(Denied, "not allowed").WithHint("allow it")
	once := wrap(inner, "start", "bwrap", "id1")
	twice := wrap(once, "run", "other", "id2")
	if got, want := twice.Error(), "bwrap: start: not allowed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if HintOf(twice) != "allow it" {
		t.Errorf("the hint got lost: %q", HintOf(twice))
	}
	if inner.Op != "" || inner.Backend != "" {
		t.Error("the driver's own error was changed")
	}
	if wrap(nil, "start", "bwrap", "") != nil {
		t.Error("nil became an error")
	}
	var e *Error
	if err := wrap(fs.ErrNotExist, "stat", "bwrap", ""); !errors.As(err, &e) || e.Code != NotFound {
		t.Errorf("a standard error became %v", err)
	}
}

func Test_Wrap_Keeps_Text_That_Was_Added(t *testing.T) {
	err := wrap(fmt.Errorf("second try: %w", Errorf(Timeout, "late")), "open", "bwrap", "")
	if got, want := err.Error(), "bwrap: open: second try: late"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(err, ErrTimeout) {
		t.Error("the code got lost")
	}
}

func Test_Each_Code_Has_Its_Exit_Status(t *testing.T) {
	for code, want := range map[Code]int{
		Timeout: 124, Canceled: 130, Denied: 125, Unavailable: 125, Invalid: 125, Internal: 125,
	} {
		if got := code.Exit(); got != want {
			t.Errorf("%s exits %d, want %d", code, got, want)
		}
	}
}

func Test_An_Error_Of_The_Callers_Context_Has_Its_Code(t *testing.T) {
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	waited := Errorf(Unavailable, "the guest did not answer: %w", context.DeadlineExceeded)
	for _, row := range []struct {
		late bool // the caller's deadline has passed
		err  error
		want Code
	}{
		{true, waited, Timeout},
		{false, waited, Unavailable}, // a time limit of the driver's own
		{true, Errorf(NotFound, "no such program"), NotFound},
	} {
		ctx := t.Context()
		if row.late {
			ctx = late
		}
		if got := CodeOf(wrap(codeContextEnd(ctx, row.err), "start", "bwrap", "")); got != row.want {
			t.Errorf("%v: %s, want %s", row.err, got, row.want)
		}
	}
	if err := wrap(codeContextEnd(late, waited), "start", "bwrap", ""); !errors.Is(err, context.DeadlineExceeded) || err.Error() != "bwrap: start: the guest did not answer: context deadline exceeded" {
		t.Errorf("%v", err)
	}
}
