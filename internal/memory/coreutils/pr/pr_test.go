package pr_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

const pageTree = programtest.FillTree + `
seq 1 7 > seven
seq 1 150 > many
printf 'a\nb\fc\nd\f\fe\n\ff\n' > feeds
printf '\f\none\n\f' > feeds2
printf 'x\n\f' > feeds3
{ seq 1 56; printf '\f'; seq 57 60; } > full
{ seq 1 5; printf '\f\n'; seq 6 20; printf '\fz'; } > uneven
printf 'a\tb\tc\n        eight\n   x   y      z\n\001\002\bq\b\b\b\377\303\251\177\n\b\bz\n,c,d\n' > control
printf 'a line which is rather long, longer than a column of a page can be, so that it must be cut somewhere\nshort\n\nend' > wide
touch -d '2024-02-03 04:05:06.789' a seven many feeds feeds2 feeds3 full uneven control wide d`

func Test_Pr_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	lines := []string{
		"pr -D x", "pr -t", "pr -t -", "pr -D x - -", "pr -D x -m - -", "pr -t -m - many -", "pr -t -m", "pr nosuch", "pr nosuch a", "pr -r nosuch a", "pr -r nosuch", "pr d", "pr d a", "pr -m a d", "pr -x", "pr --foo", "pr -h", "pr empty", "pr -2 empty", "pr a", "pr a empty seven", "pr many", "pr -l 20 many", "pr -l 10 many", "pr -l 11 many", "pr -l 1 seven", "pr --length=0 a", "pr -l x a", "pr -l 99999999999 a",
		"pr +2 many", "pr +2:2 many", "pr +1:2 many", "pr +4 many", "pr +4 many a", "pr --pages=2 many", "pr --pages=2:2 many", "pr --pages=x a", "pr --pages=3:2 a", "pr --pages=3:x a", "pr --pages=3:99999999999999999999 a", "pr --pages=1:2x a", "pr --pages=-3 a", "pr --pages=0 a", "pr --pages= a", "pr +abc a", "pr +0 a", "pr +1:0 a", "pr +99999999999999999999999 a", "pr +99999999999999999999999x a", "pr +2 +3 many", "pr many +2", "pr --pages=2 +3 many", "pr +2 -3 -l 15 many", "pr +2 -m -l 15 -D x many seven", "pr +3 -a -3 -l 15 many", "pr +2 -n -l 15 many", "pr +2 -n -N 7 -l 15 many", "pr +2 full", "pr +2 -n full", "pr +3 feeds", "pr +2 -2 -n feeds", "pr +2 -t uneven", "pr -- +2 many", "pr +9 -m -t a seven",
		"pr -0 a", "pr -3x a", "pr -99999999999 a", "pr --columns=x a", "pr --columns=3 many", "pr -2 --columns=3 -t many", "pr --columns=3 -2 -t many", "pr -1 -2 -t many", "pr -1 -t -2 many", "pr -12 -t many", "pr -m -2 a", "pr -m -a a", "pr -w 3 -5 a", "pr -2147483647 -w 2147483647 -l 2147483647 a", "pr -a -73 many",
		"pr -ex0 a", "pr -exy a", "pr -ex99999999999999999999 a", "pr -ex4294967296 a", "pr -n:- a", "pr -N 99999999999 a", "pr -N x a", "pr -o x a", "pr -o -1 a", "pr -w 0 -2 a", "pr -W x a", "pr -D '' a", "pr -D %Y -h '' a", "pr -h 'a long header which takes so much place that there is hardly a blank left for it' a", "pr -D '%A %d' -W 30 many", "pr -h 'caf\303\251' a", "pr -f many", "pr -F -l 30 many", "pr -d seven", "pr -d -l 20 many", "pr -dt -l 7 many", "pr -d -3 -l 25 many", "pr -b -3 many", "pr -J -3 wide", "pr -J -m wide seven", "pr -m -S: wide seven feeds", "pr -T feeds", "pr -t feeds", "pr -t -f feeds", "pr -l 10 -f feeds uneven",
	}
	for _, file := range []string{"many", "feeds", "feeds2 feeds3", "full", "uneven", "control", "wide", "tabs blanks", "utf8 bin odd"} {
		for _, flags := range []string{"", "-3", "-a3", "-t -2", "-at -4", "-T -2", "-n", "-n -3", "-n: -a -2", "-n,3 -2 -t", "-n2 -t", "-n.1 -t", "-v -t", "-c -t", "-cv -2", "-e -t", "-e,4 -t", "-e3 -2 -t", "-i -t", "-i_4 -2", "-i2 -t", "-o 5", "-o 9 -2", "-o 3 -i -t", "-s -3 -t", "-s: -3 -t", "-s -w 40 -3 -t", "-s: -w 40 -3 -t", "-s -W 40 -3 -t", "-w 30 -t", "-w 30 -2 -t", "-W 20 -t", "-W 20 -2 -n", "-S -2 -t", "-S' | ' -2 -t", "-S'  ' -3 -t -o 2", "-J -2 -t -S-", "-J -2 -t -W 30", "-l 15 -d -2", "-f -2 -l 15", "-n -N -5 -t", "-N 99998 -n4 -2 -l 20", "--sep-string=: -2 -l 20", "--separator --columns=2 -l 20", "-b -2 -l 14 -n", "-a -d -3 -l 16 -n"} {
			lines = append(lines, "pr "+flags+" "+file)
		}
	}
	for _, files := range []string{"many seven", "seven many", "feeds uneven", "uneven seven feeds2", "control wide", "full many", "nosuch seven", "nosuch nosuch", "empty seven", "seven empty many"} {
		for _, flags := range []string{"-D x", "-D x -n", "-t", "-t -n:3", "-t -s", "-t -s: -w 50", "-t -J", "-D x -l 17", "-T -o 4", "-t -S'+ '", "-t -S", "-d -D x -l 20", "-f -D x -l 14 -e", "-t -W 33 -n", "-t -J -S: -n"} {
			lines = append(lines, "pr -m "+flags+" "+files)
		}
	}
	lines = append(lines,
		"pr --pages=1x a", "pr --pages=1: a", "pr --pages=:2 a", "pr --pages=1:2:3 a", "pr --pages=99999999999999999999999x a", "pr --pages=18446744073709551615 a", "pr +1x a", "pr +1:2x a", "pr +5:3 a", "pr +1: a", "pr ++1 -t a", "pr + a", "pr +-1 a",
		"pr -3 +2 -2 -l 20 many", "pr -1 -12 -t many", "pr -m -- a b", "pr -1 -w 20 -t wide", "pr -m -w 20 -t wide", "pr -W 20 -w 50 wide", "pr -w 50 -W 20 wide", "pr -J -40 a", "pr -s -36 -t many", "pr -ex-3 a", "pr -e0 a", "pr -ixy a", "pr -n:0 a", "pr -n:+3 -t a", "pr -n2 -N 98 -t many", "pr -N -5 -n -t a", "pr -s: -s -3 -t many", "pr -S -s: -3 -t many", "pr -T -t feeds", "pr -t -T feeds", "pr -T -l 2 feeds",
		"pr -o 5 -l 15 -h '' many", "pr -o 9 -i -W 30 seven", "pr -t -l 4 full", "pr -t -l 2 -2 full", "pr -n -m -t noend many", "pr -n -m -t noend empty many", "pr -n -m +2 -l 15 seven many", "pr -f -d -l 15 seven", "pr -f -d -l 15 -2 feeds")
	rows := programtest.TextRows(lines)
	rows = append(rows, programtest.Row{Line: "pr many", Env: []string{"POSIXLY_CORRECT=1"}}, programtest.Row{Line: "pr many", Env: []string{"TZ=Europe/Berlin"}}, programtest.Row{Line: "pr -h caf\303\251 utf8", Env: []string{"LC_ALL=C.UTF-8"}})
	programtest.RunReadOnly(t, pageTree, rows)
}

// This test combines options at random. Known differences are excluded: a line whose first
// character has no room in its column, and -d on pages with room for a single line, where the real one
// goes round for ever.
func Test_Pr_Writes_Any_Text_With_Any_Options_As_The_Real_One(t *testing.T) {
	t.Parallel()
	work := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	flags := []string{
		"-t", "-T", "-d", "-f", "-n", "-n:", "-n:3", "-n12", "-i", "-i4", "-i_", "-e", "-e3", "-ew", "-ew3", "-o3", "-o9", "-J", "-s", "-s:", "-s:;", "-S", "-S::", "-S: ", "-S ", "-S\t",
		"-S  ", "-w20", "-w30", "-w50", "-W20", "-W30", "-W41", "-c", "-v", "+2:3", "-N7", "-N-2", "-hfoo",
	}
	r := rand.New(rand.NewPCG(9, 2)) //nolint:gosec // The same each time.
	for range 500 {
		length := 12 + r.IntN(8)
		if r.IntN(2) == 0 {
			length = 2 + r.IntN(9)
		}
		args := []string{"pr", "-Dx", fmt.Sprintf("-l%d", length)}
		switch r.IntN(4) {
		case 0:
			args = append(args, fmt.Sprintf("-%d", 1+r.IntN(5)))
		case 1:
			args = append(args, fmt.Sprintf("-%d", 2+r.IntN(4)), "-a")
		}
		for range r.IntN(5) {
			args = append(args, flags[r.IntN(len(flags))])
		}
		programtest.CompareText(t, work, args, pagedText(r))
	}
}

func pagedText(r *rand.Rand) string {
	gaps := []string{
		" ", " ", "  ", "\n", "\n", "\n", "\n", "\n", "\n", "   ", "\n\n", "\n  ", "\t", "\f", "\f\n", "\n\f", "\n\f", "\n\f\n", "\f\f",
		"\b", "\b\b", "\r", "\x01", "\x00", "\x7f", "\xe9",
	}
	gapKinds := 8 + r.IntN(len(gaps)-7)
	var b strings.Builder
	for range r.IntN(60) {
		b.WriteString("abcdefghijwwwwwwwwwww"[:1+r.IntN(20)])
		b.WriteString(gaps[r.IntN(gapKinds)])
	}
	if r.IntN(2) == 0 {
		b.WriteString("\n")
	}
	return b.String()
}

func Test_Pr_And_Fmt_End_When_They_Cost_Too_Much(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"pr -o 2147483647 a", "pr -l 2147483647 a", "pr -e2147483647 -t a", "pr -e2147483647 -i3 -t a", "pr -n:2147483647 -t a", "pr -W 2147483647 a", "pr -2 -w 2147483647 -t -i1 a",
		"pr -2147483647 -S -w 2147483647 -l 2147483647 endless", "pr -2 -l 2147483647 endless", "pr -a -1000000 -w 1000000 -S endless", "pr +9999999999 endless", "pr -m endless endless",
		"fmt far", "fmt endless", "fmt -u endless", "fmt -c far", "fmt -p y endless", "fmt -s far",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			tree := programtest.NewVirtualTree(t, map[string]string{
				"a": "a\tb\n\tc\nd\n", "far": strings.Repeat("\t", 1<<20) + strings.Repeat("word ", 1<<16),
			})
			must := func(err error) {
				if err != nil {
					t.Fatal(err)
				}
			}
			must(tree.Symlink(vfs.Cred{}, "/dev/stdin", "/w/endless"))
			var out bytes.Buffer
			p := shell.NewProc(t.Context(), shell.ProcOptions{
				FS: tree, Args: strings.Fields(line), Env: programtest.RealEnv(nil), Dir: "/w", Stdin: endlessLines{}, Stdout: &out, Stderr: &out, Commands: coreutils.Commands(),
				Limits: shell.Limits{Fuel: 300_000},
			})
			status := p.Run(shell.Spawn{Args: strings.Fields(line)})
			if !slices.Contains([]int{0, 1, 137}, status) {
				t.Errorf("status %d", status)
			}
			if out.Len() > 100<<20 {
				t.Errorf("%d bytes", out.Len())
			}
		})
	}
}

// endlessLines has a line and another one.
type endlessLines struct{}

func (endlessLines) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = "y\n"[i%2]
	}
	return len(b) &^ 1, nil
}
