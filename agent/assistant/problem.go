package assistant

import (
	"errors"
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Severity is the importance of a problem.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the file or the assistant cannot be used
	Warning Severity = "warning" // the file or the assistant is used anyway
)

// Problem is a fault in the files of an assistant or a connector.
type Problem struct {
	Severity Severity `json:"severity"`
	jsonc.Problem
}

// String returns one line: "FILE:LINE: KEY: TEXT", with "warning: " before KEY for a warning.
func (p Problem) String() string {
	if p.Severity != Warning {
		return p.Problem.String()
	}
	at := p.Problem
	at.Key, at.Text = "", "warning: "
	if p.Key != "" {
		at.Text += jsonc.OneLine(p.Key) + ": "
	}
	at.Text += p.Text
	return at.String()
}

// IsValid reports whether none of the problems is an error.
func IsValid(problems []Problem) bool {
	return !slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity != Warning })
}

// joinErrors joins the errors among problems to one error; nil: there are none.
func joinErrors(problems []Problem) error {
	var errs []error
	for _, p := range problems {
		if p.Severity != Warning {
			errs = append(errs, p.Err())
		}
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

// convertError converts an error about a file to a problem.
func convertError(file string, err error) jsonc.Problem {
	if p, ok := jsonc.ProblemOf(err); ok {
		return p
	}
	return jsonc.Problem{File: file, Text: err.Error(), Hint: sandbox.HintOf(err)}
}

// reported collects problems.
type reported struct{ problems []Problem }

func (r *reported) add(problems ...jsonc.Problem) {
	for _, p := range problems {
		r.problems = append(r.problems, Problem{Error, p})
	}
}

func (r *reported) warn(p jsonc.Problem) { r.problems = append(r.problems, Problem{Warning, p}) }
