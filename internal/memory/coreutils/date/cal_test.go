package date_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Cal_Prints_As_The_Real_One(t *testing.T) {
	t.Parallel()
	rows := programtest.RowsOf("",
		"cal 2 2024", "cal 1 2023", "cal 2024", "cal 1", "cal 1752", "cal 9 1752", "cal 8 1752", "cal 10 1752", "cal 2 1700", "cal 2 1900", "cal 12 9999", "cal 1 1", "cal 9999", "cal -3 2 2024", "cal -3 1 2024", "cal -3 12 2023", "cal -j 2 2024", "cal -j 12 2024", "cal -jy 2023", "cal -j 2024", "cal -3j 2 2024", "cal -A 1 2 2024", "cal -B 2 2 2024", "cal -A1 -B1 2 2024", "cal -A 4 10 2024", "cal -B1 -A5 2 2024", "cal feb 2024", "cal january 2024", "cal DEC 2024", "cal -y 2024", "cal -1 2 2024", "cal -d 2024-02", "cal -d 2024-02 -3", "cal -m 3 2024", "cal -m mar 2024", "cal -y -d 2021-05", "cal -j 9 1752", "cal -3 9 1752",
		"cal 13 2024", "cal 0 2024", "cal x 2024", "cal 0", "cal 10000", "cal x", "cal -1 2024",
	)
	for _, line := range []string{"cal -Z", "cal --bogus", "cal 1 2 3", "cal -d x"} {
		rows = append(rows, programtest.Row{Line: line, Loose: programtest.SloppyOutput})
	}
	programtest.RunReadOnly(t, "", rows)
}
