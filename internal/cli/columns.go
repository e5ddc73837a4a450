package cli

import (
	"fmt"
	"unicode/utf8"
)

// printColumns aligns all columns but the last.
func (a *app) printColumns(rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = printable(cell)
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			fmt.Fprintf(a.out, "%-*s  ", width[i], cell)
		}
		fmt.Fprintln(a.out, row[len(row)-1])
	}
}

// count returns a number with its noun: "1 change", "2 changes".
func count[N int | int64](n N, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
