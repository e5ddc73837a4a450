package house_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// traps are the faults Y1 to Y25 of seed 000.
const traps = 25

var (
	trapRow  = regexp.MustCompile(`(?m)^\| (Y\d+) \|.*\| (.*) \|$`)
	trapTest = regexp.MustCompile("`([a-z0-9/]+)\\.(\\w+)`")
	trapNote = regexp.MustCompile(`^((?:Y\d+, )*Y\d+): \S`)
)

func Test_Every_Trap_Has_The_Tests_That_The_Design_Names(t *testing.T) {
	t.Parallel()
	design, err := os.ReadFile("../../../docs/design/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, row := range trapRow.FindAllStringSubmatch(string(design), -1) {
		tests := trapTest.FindAllStringSubmatch(row[2], -1)
		if len(tests) == 0 || strings.Count(row[2], "`") != 2*len(tests) {
			t.Errorf("%s: these are no tests: %s", row[1], row[2])
		}
		for _, test := range tests {
			named = append(named, row[1]+" "+test[1]+"."+test[2])
		}
	}
	for n := range traps {
		trap := fmt.Sprintf("Y%d ", n+1)
		if !slices.ContainsFunc(named, func(line string) bool { return strings.HasPrefix(line, trap) }) {
			t.Errorf("the design names no test of %s", trap)
		}
	}
	noted := notes(t)
	for _, line := range named {
		if !slices.Contains(noted, line) {
			t.Errorf("%s: there is no such function with the trap's name in its comment", line)
		}
	}
	for _, line := range noted {
		if !slices.Contains(named, line) {
			t.Errorf("%s: docs/design/testing.md does not name it", line)
		}
	}
}

// notes returns the functions whose comments name a trap, as "Y1 package.Function".
func notes(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir("../../..", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "testdata" || e.Name() == ".git" || e.Name() == "node_modules") {
			return fs.SkipDir
		}
		dir := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(name, "../../../")))
		if strings.HasSuffix(name, "_test.go") || dir == "sandboxtest" && strings.HasSuffix(name, ".go") {
			found, err := notesOf(name)
			for _, note := range found {
				trap, function, _ := strings.Cut(note, " ")
				all = append(all, trap+" "+dir+"."+function)
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// notesOf returns the notes of one file, without the package. In test files only tests
// count.
func notesOf(name string) (notes []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(f.Name.Name, "Test") {
			continue
		}
		for line := range strings.Lines(f.Doc.Text()) {
			if m := trapNote.FindStringSubmatch(line); m != nil {
				for trap := range strings.SplitSeq(m[1], ", ") {
					notes = append(notes, trap+" "+f.Name.Name)
				}
			}
		}
	}
	return notes, nil
}
