package program

import (
	"errors"
	"fmt"
	"io"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Confirm asks on standard error and reads the answer from standard input: yes begins with y.
func Confirm(p *shell.Proc, format string, args ...any) bool {
	fmt.Fprintf(p.Stderr, "%s: %s", p.Name(), fmt.Sprintf(format, args...))
	line, _ := ReadAnswer(p.Stdin)
	return line != "" && (line[0] == 'y' || line[0] == 'Y')
}

// ReadAnswer reads a line byte by byte: what follows belongs to the next reader.
func ReadAnswer(r io.Reader) (string, error) {
	var line []byte
	b := make([]byte, 1)
	for {
		n, err := r.Read(b)
		if n == 1 {
			if b[0] == '\n' {
				return string(line), nil
			}
			// Only the first letter counts, and a line may have no end.
			if len(line) < 64 {
				line = append(line, b[0]) // bounded: by 64 bytes
			}
		}
		if errors.Is(err, io.EOF) || err != nil {
			return string(line), err
		}
	}
}
