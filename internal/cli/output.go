package cli

import (
	"encoding/json"
	"errors"
	"io"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// errPipe says that the reader of our stdout is gone.
var errPipe = errors.New("broken pipe")

// output is stdout. It remembers the first failure, so that the many small
// writes of a table need no error handling and a full disk is still an error.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	switch {
	case errors.Is(err, syscall.EPIPE):
		o.err = errPipe
	case err != nil:
		o.err = sandbox.Errorf(sandbox.Exhausted, "cannot write to stdout: %w", err)
	}
	return n, o.err
}

// printJSON prints v as the one document of stdout.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
