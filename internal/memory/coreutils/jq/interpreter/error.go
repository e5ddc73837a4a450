package interpreter

import (
	"errors"
	"fmt"
)

// Error is an error of a program that it may catch; Value is what error was called with.
type Error struct{ Value Value }

// Error returns the message as jq shows it behind the place.
func (e *Error) Error() string {
	if s, ok := e.Value.(string); ok {
		return s
	}
	return cutJSON(e.Value, maxMessage)
}

func errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Halt is the end that halt and halt_error ask for.
type Halt struct {
	Status int
	Value  Value // what is to be written to standard error
	Quiet  bool  // nothing is
}

func (h *Halt) Error() string { return "halt" }

// outside carries an error from behind a filter through it: try must not catch what
// happens to its results.
type outside struct{ err error }

func (o *outside) Error() string { return o.err.Error() }

// broken is the error that leads from a break to its label.
type broken struct{ to *labelMark }

func (b *broken) Error() string { return "break" }

// labelMark is one time that a label was passed. It takes room so that each has an address.
type labelMark struct{ _ byte }

// errStop ends a generator whose further values are not needed.
var errStop = errors.New("stop")

// limits of what one value may hold.
const (
	maxString  = 256 << 20
	maxArray   = 1 << 24
	maxMessage = 1 << 20
	maxDepth   = 40000 // of calls inside each other
)

var errTooBig = &Error{"value is too big"}
