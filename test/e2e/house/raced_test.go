package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Test_Programs_That_Start_Goroutines_Are_Tested_With_The_Race_Detector checks the expression in build/scripts/packages.sh
// that selects the programs in memory whose tests run with the race detector.
func Test_Programs_That_Start_Goroutines_Are_Tested_With_The_Race_Detector(t *testing.T) {
	top := filepath.Join("..", "..", "..")
	script, err := os.ReadFile(filepath.Join(top, "build", "scripts", "packages.sh"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^compared_and_raced='(.*)'$`).FindStringSubmatch(string(script))
	if found == nil {
		t.Fatal("build/scripts/packages.sh has no line compared_and_raced='...'")
	}
	raced, starting := regexp.MustCompile(found[1]), map[string]bool{}
	files, err := filepath.Glob(filepath.Join(top, "internal", "memory", "coreutils", "*", "*.go"))
	inner, innerErr := filepath.Glob(filepath.Join(top, "internal", "memory", "coreutils", "*", "*", "*.go"))
	if err != nil || innerErr != nil || len(files) == 0 {
		t.Fatalf("%d files, %v, %v", len(files), err, innerErr)
	}
	for _, name := range slices.Concat(files, inner) {
		rel, err := filepath.Rel(top, filepath.Dir(name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") || filepath.Base(rel) == "programtest" { // these tests run the real programs
			continue
		}
		if startsGoroutines(t, name) {
			starting[rel] = true
			if !raced.MatchString(rel) {
				t.Errorf("%s starts goroutines: name its package in compared_and_raced of build/scripts/packages.sh", name)
			}
		}
	}
	if len(starting) == 0 {
		t.Error("no program starts goroutines, which compared_and_raced of build/scripts/packages.sh names")
	}
}

// startsGoroutines reports whether a file has a go statement, or a call of the standard library that starts a goroutine.
func startsGoroutines(t *testing.T, name string) (starts bool) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			starts = true
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "Go" || s.Sel.Name == "AfterFunc") {
				starts = true
			}
		}
		return true
	})
	return starts
}
