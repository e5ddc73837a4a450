package console

import (
	"fmt"
	"strings"
)

// Shorten truncates a table's line to the width of a usual terminal.
func Shorten(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return s
}

// PrintText prints lines of possibly hostile files.
func (a *App) PrintText(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintln(a.Out, Escape(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")))
	}
}
