package jsonc

import (
	"strconv"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Problem is one thing that is wrong in a file. Its texts repeat what stands in files that nobody need trust: names are
// quoted where they do not print on one line, values are quoted and cut.
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
func (p Problem) Err() *sandbox.Error {
	e := sandbox.Errorf(sandbox.Invalid, "%s", p.String())
	e.Hint = p.Hint
	return e
}
