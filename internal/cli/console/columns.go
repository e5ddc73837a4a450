package console

import (
	"fmt"
	"unicode/utf8"
)

// PrintColumns aligns all columns but the last.
func (a *App) PrintColumns(rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = Escape(cell)
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			fmt.Fprintf(a.Out, "%-*s  ", width[i], cell)
		}
		fmt.Fprintln(a.Out, row[len(row)-1])
	}
}

// Count returns a number with its noun: "1 change", "2 changes".
func Count[N int | int64](n N, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
