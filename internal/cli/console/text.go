package console

import (
	"fmt"
	"strings"
)

// Shorten keeps a table's line on a usual terminal.
func Shorten(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return s
}

// PrintText prints lines that may come from hostile files.
func (a *App) PrintText(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintln(a.Out, Escape(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")))
	}
}
