package cli

import (
	"fmt"
	"strings"
)

// shorten keeps a table's line on a usual terminal.
func shorten(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return s
}

// printText prints lines that may come from hostile files.
func (a *app) printText(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintln(a.out, printable(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")))
	}
}
