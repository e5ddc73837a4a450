package console

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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

// PrintLines prints the lines of r, which may come from inside a sandbox.
func (a *App) PrintLines(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, long, err := lines.ReadLine()
		if errors.Is(err, io.EOF) {
			return a.Out.Err
		}
		if err != nil {
			return err
		}
		end := "\n"
		if long { // the rest follows
			end = ""
		}
		fmt.Fprint(a.Out, Escape(string(line)), end)
	}
}

// PrintText prints lines of possibly hostile files.
func (a *App) PrintText(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintln(a.Out, Escape(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")))
	}
}
