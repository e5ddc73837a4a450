// Command typecheck reports type errors in this module's packages and their tests, for the operating system and
// architecture of GOOS and GOARCH:
//
//	typecheck [-tags kube,agent] PACKAGE...
//
// It reads all packages from source, and of other modules only the declarations. The go command would compile those,
// which takes minutes if its cache is empty. Run it in the directory of the module.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	tags := flag.String("tags", "", "build `tags`, with commas between them")
	flag.Parse()
	dir, err := os.Getwd()
	if err == nil {
		var wrong []string
		wrong, err = check(dir, *tags, flag.Args())
		for _, line := range wrong {
			fmt.Println(line)
		}
		if len(wrong) > 0 {
			os.Exit(1)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "typecheck:", err)
		os.Exit(1)
	}
}

// check returns the errors in the module's packages, in a directory, that match the patterns.
func check(dir, tags string, patterns []string) (wrong []string, err error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes,
		Dir:        dir,
		Env:        append(os.Environ(), "CGO_ENABLED=0"),
		BuildFlags: []string{"-tags=" + tags},
		Tests:      true,
		ParseFile: func(set *token.FileSet, name string, text []byte) (*ast.File, error) {
			file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
			if file != nil && !strings.HasPrefix(name, dir+string(filepath.Separator)) {
				dropBodies(file)
			}
			return file, err
		},
	}, patterns...)
	if err != nil {
		return nil, err
	}
	if len(loaded) == 0 {
		return nil, fmt.Errorf("no package matches %q", patterns)
	}
	// A package is loaded a second time with its tests, so an error can appear twice. Ignore errors in imported packages:
	// those of other modules come from their removed function bodies.
	for _, pkg := range loaded {
		if strings.HasSuffix(pkg.PkgPath, ".test") {
			continue // the go command writes this file, outside the module
		}
		for _, e := range pkg.Errors {
			wrong = append(wrong, e.Error())
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong), nil
}

// dropBodies removes the statements of all functions.
func dropBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
