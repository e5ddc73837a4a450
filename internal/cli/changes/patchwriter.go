package changes

import (
	"bytes"
	"io"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// patchWriter writes a patch. For a terminal it escapes control sequences: the
// contents come from an untrusted program.
type patchWriter struct {
	out             io.Writer
	terminal, color bool

	line []byte // the beginning of a line
	hunk bool   // within a hunk, where every line begins with a sign
}

func (w *patchWriter) Write(p []byte) (int, error) {
	if !w.terminal {
		return w.out.Write(p)
	}
	for part := range bytes.Lines(p) {
		w.line = append(w.line, part...)
		if !bytes.HasSuffix(part, []byte{'\n'}) {
			break
		}
		if err := w.flush(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// flush writes the complete line, or the last one.
func (w *patchWriter) flush() error {
	if len(w.line) == 0 {
		return nil
	}
	text := strings.TrimSuffix(string(w.line), "\n")
	w.line = w.line[:0]
	_, err := io.WriteString(w.out, w.paint(text)+"\n")
	return err
}

func (w *patchWriter) paint(text string) string {
	sign := byte(0)
	if text != "" {
		sign = text[0]
	}
	switch sign {
	case 'd': // "diff --git": no line of a hunk begins like this
		w.hunk = false
	case '@':
		w.hunk = true
	}
	parts := strings.Split(text, "\t")
	for i := range parts {
		parts[i] = console.Escape(parts[i])
	}
	text = strings.Join(parts, "\t")
	if !w.color {
		return text
	}
	code := ""
	switch {
	case !w.hunk:
		code = "1"
	case sign == '@':
		code = "36"
	case sign == '+':
		code = "32"
	case sign == '-':
		code = "31"
	}
	if code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[m"
}
