package program

import (
	"errors"
	"io"

	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
)

// IsEnd reports whether an error is the end of input, not a failure to read.
func IsEnd(err error) bool { return errors.Is(err, io.EOF) }

// RegexError is the text of a wrong expression.
func RegexError(err error) string {
	if e, ok := errors.AsType[*regex.Error](err); ok {
		return e.Text
	}
	return err.Error()
}
