package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"syscall"
	"unicode/utf16"
	"unicode/utf8"

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
	enc := a.NewEncoder()
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// NewEncoder returns an encoder of JSON to stdout, see [EscapeJSON].
func (a *App) NewEncoder() *json.Encoder {
	enc := json.NewEncoder(jsonWriter{a.Out})
	enc.SetEscapeHTML(false)
	return enc
}

// jsonWriter escapes whole documents: an encoder writes each at once.
type jsonWriter struct{ to io.Writer }

func (w jsonWriter) Write(p []byte) (int, error) {
	if _, err := w.to.Write(EscapeJSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// EscapeJSON escapes the characters of a JSON text that could control a terminal, and that JSON itself leaves as they are:
// C1 control characters, and those that change the direction of text. A reader of JSON gets the same strings.
func EscapeJSON(text []byte) []byte {
	hostile := func(r rune) bool { return r >= utf8.RuneSelf && r != utf8.RuneError && !strconv.IsPrint(r) }
	if !bytes.ContainsFunc(text, hostile) {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/4)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case !hostile(r):
			out = append(out, text[:n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out
}
