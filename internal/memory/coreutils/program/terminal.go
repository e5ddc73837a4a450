package program

import (
	"strconv"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Terminal is a stream that may be a terminal.
type Terminal interface {
	// Terminal returns the size of the terminal; not ok when the stream is not a terminal.
	Terminal() (columns, rows int, ok bool)
}

// IsTerminal reports whether a stream of a process is a terminal.
func IsTerminal(stream any) bool {
	t, ok := stream.(Terminal)
	if ok {
		_, _, ok = t.Terminal()
	}
	return ok
}

// TerminalWidth returns how wide the output may be: the terminal, COLUMNS, or 80.
func TerminalWidth(p *shell.Proc) int {
	if t, ok := p.Stdout.(Terminal); ok {
		if n, _, ok := t.Terminal(); ok && n > 0 {
			return n
		}
	}
	if n, err := strconv.Atoi(p.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return 80
}
