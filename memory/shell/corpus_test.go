package shell_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Rows of testdata/corpus run here and on the bash of the machine, which is what they
// are measured by: standard output, standard error and status have to be the same.
//
//	=== name of the row
//	--- anything of: stdin TEXT, args WORDS, file, piped, stderr REASON
//	script
//	=== lines: every line below is a row of its own, named by its text, and has no
//	newline at its end

// corpusRow is one script of the corpus.
type corpusRow struct {
	area, name string
	script     string
	stdin      string
	args       []string
	way        way
	anyStderr  string // why messages are not compared
}

// way says how a script gets to the shell.
type way int8

const (
	byOption way = iota // bash -c
	byFile              // bash script.sh
	byPipe              // bash <script
)

func (r corpusRow) id() string { return r.area + "/" + r.name }

// readCorpus returns the rows of a file.
func readCorpus(tb testing.TB, path string) []corpusRow {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	area := strings.TrimSuffix(filepath.Base(path), ".txt")
	var rows []corpusRow
	for i, block := range strings.Split("\n"+string(data), "\n=== ") {
		name, script, _ := strings.Cut(block, "\n")
		if i == 0 {
			if strings.TrimSpace(block) != "" {
				tb.Fatalf("%s: text before the first row: %q", path, block)
			}
			continue
		}
		if strings.HasPrefix(name, "lines:") {
			for line := range strings.Lines(script) {
				if line = strings.TrimSpace(line); line != "" {
					rows = append(rows, corpusRow{area: area, name: line, script: line})
				}
			}
			continue
		}
		r := corpusRow{area: area, name: strings.TrimSpace(name)}
		for strings.HasPrefix(script, "--- ") {
			var line string
			line, script, _ = strings.Cut(script, "\n")
			if err := r.directive(line[4:]); err != nil {
				tb.Fatalf("%s: row %q: %v", path, r.name, err)
			}
		}
		r.script = strings.TrimRight(script, "\n") + "\n"
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		tb.Fatalf("%s has no rows", path)
	}
	return rows
}

func (r *corpusRow) directive(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "stdin":
		r.stdin += strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\0`, "\x00", `\\`, `\`).Replace(rest)
	case "args":
		r.args = strings.Fields(rest)
	case "file":
		r.way = byFile
	case "piped":
		r.way = byPipe
	case "stderr":
		r.anyStderr = rest
		if rest == "" {
			return fmt.Errorf("messages that are not compared need a reason")
		}
	default:
		return fmt.Errorf("unknown directive %q", word)
	}
	return nil
}

// readDiffering returns the rows in which this shell knowingly differs, with the reason.
func readDiffering(tb testing.TB) map[string]string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "differing.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	rows := map[string]string{}
	id := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != '\t':
			id = line
		case id == "" || rows[id] != "":
			tb.Fatalf("differing.txt: %q has no row, or two reasons", line)
		default:
			rows[id] = line[1:]
		}
	}
	return rows
}

func needBash(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("bash")
	if err != nil {
		tb.Fatal("bash, which the shell is compared with, is not installed")
	}
	return path
}

func Test_Corpus(t *testing.T) {
	t.Parallel()
	// Bash lists what was ignored before it began, as under nohup; what a process catches, its children do not ignore.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
	files, err := filepath.Glob(filepath.Join("testdata", "corpus", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no corpus", err)
	}
	differing := readDiffering(t)
	seen := map[string]bool{}
	var rows []corpusRow
	for _, f := range files {
		for _, r := range readCorpus(t, f) {
			if seen[r.id()] {
				t.Errorf("%s is there twice", r.id())
			}
			seen[r.id()] = true
			rows = append(rows, r)
		}
	}
	for id := range differing {
		if !seen[id] {
			t.Errorf("differing.txt names %s, which is no row", id)
		}
	}
	b := newBench(t)
	for _, r := range rows {
		t.Run(r.id(), func(t *testing.T) {
			t.Parallel()
			why := b.compare(t, r)
			switch reason := differing[r.id()]; {
			case reason == "" && why != "":
				t.Errorf("%s\n%s", r.script, why)
			case reason != "" && why == "":
				t.Errorf("agrees with bash now: take it out of differing.txt (%s)", reason)
			}
		})
	}
	t.Logf("%d rows, %d of them knowingly differ", len(rows), len(differing))
}
