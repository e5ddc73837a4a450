package console

import (
	"encoding/json"
	"errors"
	"io"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// errPipe means that the reader of our stdout has closed it.
var errPipe = errors.New("broken pipe")

// Output is stdout. It remembers the first failure, so that the many small
// writes of a table need no error handling and a full disk is still an error.
type Output struct {
	w   io.Writer
	Err error
}

// Write writes p to stdout. It returns the first error of all writes.
func (o *Output) Write(p []byte) (int, error) {
	if o.Err != nil {
		return 0, o.Err
	}
	n, err := o.w.Write(p)
	switch {
	case errors.Is(err, syscall.EPIPE):
		o.Err = errPipe
	case err != nil:
		o.Err = sandbox.Errorf(sandbox.Exhausted, "cannot write to stdout: %w", err)
	}
	return n, o.Err
}

// PrintJSON prints v as the one document of stdout.
func (a *App) PrintJSON(v any) error {
	enc := json.NewEncoder(a.Out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
