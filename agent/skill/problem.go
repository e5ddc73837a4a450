package skill

import (
	"fmt"
	"slices"
	"strconv"
)

// Severity is the importance of a problem.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the skill is invalid, or was not loaded
	Warning Severity = "warning" // the skill is valid, or was loaded anyway
)

// Problem is a fault in a skill. Its texts quote hostile files and are not safe
// for a terminal.
type Problem struct {
	Severity Severity `json:"severity"`
	File     string   `json:"file"`            // the SKILL.md, or the directory
	Line     int      `json:"line,omitempty"`  // from 1; 0: unknown
	Field    string   `json:"field,omitempty"` // of the frontmatter; may be empty
	Text     string   `json:"text"`            // without a full stop
}

// String returns "FILE:LINE: SEVERITY: TEXT".
func (p Problem) String() string {
	at := p.File
	if p.Line > 0 {
		at += ":" + strconv.Itoa(p.Line)
	}
	return at + ": " + string(p.Severity) + ": " + p.Text
}

// IsValid reports whether none of the problems is an error.
func IsValid(problems []Problem) bool {
	return !slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == Error })
}

// reader collects problems of one file.
type reader struct{ file string }

func (r reader) fail(line int, field, format string, args ...any) Problem {
	return Problem{Severity: Error, File: r.file, Line: line, Field: field, Text: fmt.Sprintf(format, args...)}
}

func (r reader) warn(line int, field, format string, args ...any) Problem {
	p := r.fail(line, field, format, args...)
	p.Severity = Warning
	return p
}

// cutText shortens a text from a hostile file to n characters.
func cutText(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}
