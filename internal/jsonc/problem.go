package jsonc

import (
	"errors"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Problem is one fault in a file. Its texts repeat parts of untrusted files: names are
// quoted when they do not print on one line, values are quoted and cut.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"` // from 1; 0: without a line
	Key  string `json:"key,omitempty"`  // key path, such as "sandbox.arguments.max_turns"; may be empty
	Text string `json:"text"`           // the value that was found and the expected one, without a full stop
	Hint string `json:"hint,omitempty"` // the fix; may be empty
}

// String returns "FILE:LINE: KEY: TEXT" on one line, without the parts that are unknown.
func (p Problem) String() string {
	s := OneLine(p.File)
	if p.Line > 0 {
		s += ":" + strconv.Itoa(p.Line)
	}
	s += ": "
	if p.Key != "" {
		s += OneLine(p.Key) + ": "
	}
	return s + p.Text
}

// Err returns the problem as an error with code Invalid and the problem's hint.
func (p Problem) Err() *sandbox.Error { return p.Wrap(nil) }

// Wrap is like Err, with a cause that does not change the text.
func (p Problem) Wrap(cause error) *sandbox.Error {
	return &sandbox.Error{Code: sandbox.Invalid, Hint: p.Hint, Err: &located{Problem: p, cause: cause}}
}

// ProblemOf returns the problem from which an error was made, with the error's current
// hint.
func ProblemOf(err error) (Problem, bool) {
	at, ok := errors.AsType[*located](err)
	if !ok {
		return Problem{}, false
	}
	p := at.Problem
	p.Hint = sandbox.HintOf(err)
	return p, true
}

// located is the error for a problem.
type located struct {
	Problem

	cause error
}

func (l *located) Error() string { return l.String() }

func (l *located) Unwrap() error { return l.cause }
