package text_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Fmt_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	lines := []string{
		"fmt", "fmt - -", "fmt nosuch", "fmt nosuch a", "fmt d", "fmt -x", "fmt --foo", "fmt -p", "fmt -w", "fmt -w x a", "fmt -w 2501 a", "fmt -w 2500 prose", "fmt -w -5 a", "fmt -w '' a", "fmt -w 10k a", "fmt -w +20 prose", "fmt -w ' 20' prose", "fmt -w 99999999999999999999 a", "fmt -99999999999999999999 a", "fmt -8x a", "fmt -20 prose", "fmt -20 -w 30 prose", "fmt -c -20 prose", "fmt -s -1 a", "fmt -g x a", "fmt -g 80 a", "fmt -g 40 prose", "fmt -g 10 -w 5 prose", "fmt -g 20 -w 30 talk", "fmt -g 0 prose", "fmt -w 0 prose", "fmt -w 1 prose", "fmt -0 talk", "fmt -w ' -5' a", "fmt -w -0 a", "fmt -w '5 ' a", "fmt -g 2491 a", "fmt -g 76 a", "fmt -g 75 prose", "fmt -1s a", "fmt -5x -w 3 a", "fmt -12 -13 a", "fmt a -5", "fmt -w 2 -2501 a", "fmt -- -5", "fmt a d prose", "fmt a nosuch prose", "fmt empty", "fmt noend", "fmt nul", "fmt odd", "fmt -p '\fb' odd", "fmt utf8 bin", "fmt -p X a",
		"fmt long", "fmt -w 30 long a", "fmt -c long", "fmt --width=25 --goal=20 prose", "fmt --split-only -w 12 prose", "fmt --crown-margin tagged", "fmt --tagged-paragraph tagged", "fmt --uniform-spacing talk", "fmt --prefix='#' hashes",
		"fmt numbers", "fmt -w 20 numbers", "fmt -w 2500 numbers", "fmt -s numbers", "fmt foxes", "fmt -w 30 foxes", "fmt -u -w 37 foxes", "fmt -t -w 50 foxes", "fmt seq", "fmt -w 11 seq",
	}
	for _, file := range []string{"talk", "hashes", "mail", "tabbed", "tagged", "blanks", "pages"} {
		for _, flags := range []string{"-w 24", "-c -w 30", "-t -w 30", "-s -w 20", "-u -w 28", "-p '#' -w 20", "-p '# ' -w 20", "-p '  #' -w 25", "-p '>' -w 20", "-p '> ' -c -w 18", "-ct -w 22", "-cs -w 22", "-ts -w 22", "-p '' -w 33"} {
			lines = append(lines, "fmt "+flags+" "+file)
		}
	}
	programtest.RunReadOnly(t, programtest.FillTree, programtest.TextRows(lines))
}

// The costs decide close calls, which only many texts show.
func Test_Fmt_Breaks_Lines_Of_Any_Text_As_The_Real_One(t *testing.T) {
	t.Parallel()
	work := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // The same texts each time.
	for range 600 {
		args := []string{"fmt", fmt.Sprintf("-w%d", 5+r.IntN(60))}
		for _, flag := range []string{"-c", "-t", "-s", "-u", "-p#", "-p> ", "-p  ", "-p #", "-p#  ", "-g4"} {
			if r.IntN(7) == 0 {
				args = append(args, flag)
			}
		}
		programtest.CompareText(t, work, args, randomText(r))
	}
}

// A paragraph without end is filled in parts, which end where the real one ends them. What the real
// one does with -c and -t when the first line of a paragraph is longer than a part is not looked at:
// it takes the column that it has read up to for the indentation of the other lines.
func Test_Fmt_Fills_A_Long_Paragraph_As_The_Real_One(t *testing.T) {
	t.Parallel()
	work := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // The same texts each time.
	for range 60 {
		width := 5 + r.IntN(90)
		if r.IntN(4) == 0 {
			width += r.IntN(2400)
		}
		most := 2 + r.IntN(12)
		switch r.IntN(20) {
		case 0, 1, 2:
			most = 300
		case 3:
			most = 6000
		}
		args := []string{"fmt", fmt.Sprintf("-w%d", width)}
		for _, flag := range []string{"-u", "-s", "-p#"} {
			if r.IntN(5) == 0 {
				args = append(args, flag)
			}
		}
		programtest.CompareText(t, work, args, longText(r, most))
	}
}

// longText is a single paragraph of up to 60 kB with words of up to most letters.
func longText(r *rand.Rand, most int) string {
	var b strings.Builder
	ends := []string{"", "", "", "", "", ".", ",", ".)", "!", "?\"", ";", ":", "-"}
	gaps := []string{" ", " ", " ", " ", "  ", "   ", "\n", "\t", ".\n"}
	starts := []string{"", "", "", "", "", "", "(", "[", "\"", "'", "`"}
	gapKinds, endKinds, startKinds := 1+r.IntN(len(gaps)), 1+r.IntN(len(ends)), 1+r.IntN(len(starts))
	for range r.IntN(6000) {
		b.WriteString(starts[r.IntN(startKinds)])
		b.WriteString(strings.Repeat("w", 1+r.IntN(most)))
		b.WriteString(ends[r.IntN(endKinds)])
		b.WriteString(gaps[r.IntN(gapKinds)])
		if b.Len() > 60000 {
			break
		}
	}
	return b.String()
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	ends := []string{"", "", "", "", "", ".", ",", ".)", "!", "?\"", ";", ":", "-"}
	gaps := []string{" ", " ", " ", " ", "  ", "\n", "\n", "\n\n", "\t", "\n  ", "\n# ", "\n> ", "   ", "\n\t", ".\n", "\n#", "\n   #  ", " \n"}
	starts := []string{"", "", "", "", "", "", "(", "[", "\"", "'", "`"}
	gapKinds := 1 + r.IntN(len(gaps))
	for range r.IntN(100) {
		b.WriteString(starts[r.IntN(len(starts))])
		b.WriteString(strings.Repeat("w", 1+r.IntN(9)))
		b.WriteString(ends[r.IntN(len(ends))])
		b.WriteString(gaps[r.IntN(gapKinds)])
	}
	return b.String()
}
