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
	Line int    `json:"line,omitempty"` // from 1; 0: of no line
	Key  string `json:"key,omitempty"`  // such as "sandbox.arguments.max_turns"; may be empty
	Text string `json:"text"`           // what was found and what was expected, without a full stop
	Hint string `json:"hint,omitempty"` // the fix; may be empty
}

// String is "FILE:LINE: KEY: TEXT", on one line. What is not known is left out.
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

// Err is the problem as an error with code Invalid and the problem's hint.
func (p Problem) Err() *sandbox.Error { return p.Wrap(nil) }

// Wrap is Err with a cause, which does not change the text.
func (p Problem) Wrap(cause error) *sandbox.Error {
	return &sandbox.Error{Code: sandbox.Invalid, Hint: p.Hint, Err: &located{Problem: p, cause: cause}}
}

// ProblemOf returns the problem that an error was made of, and the hint that it has now.
func ProblemOf(err error) (Problem, bool) {
	at, ok := errors.AsType[*located](err)
	if !ok {
		return Problem{}, false
	}
	p := at.Problem
	p.Hint = sandbox.HintOf(err)
	return p, true
}

// located is a problem as an error.
type located struct {
	Problem

	cause error
}

func (l *located) Error() string { return l.String() }

func (l *located) Unwrap() error { return l.cause }
