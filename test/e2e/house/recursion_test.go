package house_test

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// checkedPackage is a package with its syntax and types.
type checkedPackage struct {
	path  string
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
}

// checkPackages type-checks the packages that patterns name, without their tests.
func checkPackages(t *testing.T, patterns ...string) []checkedPackage {
	t.Helper()
	list := func(args ...string) []string {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, append(args, patterns...)...)...)
		cmd.Dir = filepath.Join("..", "..", "..")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v: %s", err, errs.String())
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	exports := map[string]string{}
	for _, line := range list("-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}") {
		path, file, _ := strings.Cut(line, "\t")
		exports[path] = file
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var packages []checkedPackage
	for _, line := range list("-f", "{{.ImportPath}}\t{{.Dir}}\t{{join .GoFiles \"\t\"}}") {
		fields := strings.Split(line, "\t")
		p := checkedPackage{path: strings.TrimPrefix(fields[0], module+"/"), fset: fset, info: &types.Info{
			Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		}}
		for _, name := range fields[2:] {
			file, err := parser.ParseFile(fset, filepath.Join(fields[1], name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			p.files = append(p.files, file)
		}
		if _, err := (&types.Config{Importer: imports}).Check(fields[0], fset, p.files, p.info); err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	return packages
}

// function is a declared function of a package.
type function struct {
	calls  map[*types.Func]bool // functions of the same package that it calls, also in closures, and its method values
	counts bool                 // it compares a depth with a limit
}

// functions returns the declared functions of a package.
func (p checkedPackage) functions() map[*types.Func]*function {
	all := map[*types.Func]*function{}
	for _, file := range p.files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			if f, ok := p.info.Defs[decl.Name].(*types.Func); ok {
				all[f] = p.inspect(decl.Body)
			}
		}
	}
	return all
}

func (p checkedPackage) inspect(body *ast.BlockStmt) *function {
	f := &function{calls: map[*types.Func]bool{}}
	add := func(id *ast.Ident) {
		if to, ok := p.info.Uses[id].(*types.Func); ok {
			f.calls[to.Origin()] = true
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			fun := ast.Unparen(n.Fun)
			if x, ok := fun.(*ast.IndexExpr); ok { // an instance of a generic function
				fun = x.X
			}
			if id, ok := fun.(*ast.Ident); ok {
				add(id)
			}
		case *ast.SelectorExpr:
			add(n.Sel)
		case *ast.BinaryExpr:
			if slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, n.Op) {
				f.counts = f.counts || namesDepth(n.X) && isLimit(n.Y) || namesDepth(n.Y) && isLimit(n.X)
			}
		}
		return true
	})
	return f
}

// namesDepth reports whether an expression has a name such as depth, nesting or deep.
func namesDepth(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && depthName.MatchString(id.Name) {
			found = true
		}
		return !found
	})
	return found
}

var depthName = regexp.MustCompile(`(?i)depth|nesting|^deep$`)

// isLimit reports whether an expression can be a limit; 0 and 1 are none.
func isLimit(e ast.Expr) bool {
	literal, ok := e.(*ast.BasicLit)
	return !ok || literal.Value != "0" && literal.Value != "1"
}

// uncounted returns the calls between functions that do not count depth, neither themselves nor with a function of the package
// that only counts.
func uncounted(all map[*types.Func]*function) map[*types.Func]map[*types.Func]bool {
	whole := map[*types.Func]map[*types.Func]bool{}
	for f, one := range all {
		whole[f] = one.calls
	}
	recursive := map[*types.Func]bool{}
	for _, c := range cycles(whole) {
		for _, f := range c {
			recursive[f] = true
		}
	}
	graph := map[*types.Func]map[*types.Func]bool{}
	for f, one := range all {
		counts := one.counts
		for to := range one.calls {
			counts = counts || all[to] != nil && all[to].counts && !recursive[to]
		}
		if !counts {
			graph[f] = one.calls
		}
	}
	return graph
}

// cycles returns the strongly connected components of a graph that contain a cycle (Tarjan's algorithm).
func cycles(graph map[*types.Func]map[*types.Func]bool) [][]*types.Func {
	number, low, onStack := map[*types.Func]int{}, map[*types.Func]int{}, map[*types.Func]bool{}
	var stack []*types.Func
	var found [][]*types.Func
	var visit func(f *types.Func)
	visit = func(f *types.Func) {
		number[f] = len(number) + 1
		low[f] = number[f]
		stack, onStack[f] = append(stack, f), true
		for to := range graph[f] {
			if graph[to] == nil {
				continue
			}
			if number[to] == 0 {
				visit(to)
				low[f] = min(low[f], low[to])
			} else if onStack[to] {
				low[f] = min(low[f], number[to])
			}
		}
		if low[f] != number[f] {
			return
		}
		at := slices.Index(stack, f)
		component := slices.Clone(stack[at:])
		for _, one := range component {
			onStack[one] = false
		}
		stack = stack[:at]
		if len(component) > 1 || graph[f][f] {
			found = append(found, component)
		}
	}
	for f := range graph {
		if number[f] == 0 {
			visit(f)
		}
	}
	return found
}

// boundedRecursion lists functions and types whose methods call themselves or each other without counting depth, and the reason
// why the depth is bounded. A cycle of calls needs one of its functions here, or one that counts.
var boundedRecursion = map[string]string{
	"internal/memory/coreutils/awk/interpreter.compiler":           "the parser bounds the depth of the tree",
	"internal/memory/coreutils/awk/interpreter.typeOf":             "the parser bounds the depth of the tree",
	"internal/memory/coreutils/awk/interpreter.isReference":        "the parser bounds the depth of the tree",
	"internal/memory/coreutils/awk/interpreter.machine.fatalAt":    "it describes a place and ends the program",
	"internal/memory/coreutils/awk/interpreter.machine.numberText": "the format of a number has one number",
	"internal/memory/coreutils/checksum.digestCommand":             "its program is called when it has returned",
	"internal/memory/coreutils/codec.suffixArray":                  "each level has half the text of the one above at most",
	"internal/memory/coreutils/column.columnTable.writeObjects":    "a line has no more parents than the table has lines, which are charged",
	"internal/memory/coreutils/compress.gzipJob":                   "nodes of the file system, which bounds them",
	"internal/memory/coreutils/dates.dateWord":                     "once, for the word without dots",
	"internal/memory/coreutils/files.copier":                       "nodes of the file system",
	"internal/memory/coreutils/files.modeChanger":                  "nodes of the file system",
	"internal/memory/coreutils/files.ownerChanger":                 "nodes of the file system",
	"internal/memory/coreutils/files.remover":                      "nodes of the file system",
	"internal/memory/coreutils/grep.grep":                          "nodes of the file system",
	"internal/memory/coreutils/jq/interpreter.constantOf":          "the parser bounds the depth of the tree",
	"internal/memory/coreutils/jq/interpreter.compiler.matcher":    "the parser bounds the depth of patterns",
	"internal/memory/coreutils/jq/interpreter.machine.deletePath":  "a value's depth is bounded where it is made",
	"internal/memory/coreutils/jq/interpreter.timeParser":          "formats of this package that contain no further ones",
	"internal/memory/coreutils/linediff.comparison.compare":        "each level has a part of the lines above, which are charged",
	"internal/memory/coreutils/listing.treeJob":                    "nodes of the file system",
	"internal/memory/coreutils/listing.listMounted":                "nodes of the file system",
	"internal/memory/coreutils/scripttest.walkHere":                "a tool of tests",
	"internal/memory/coreutils/sourcetree.MatchParts":              "the parts of a path, which the file system bounds",
	"internal/memory/coreutils/sourcetree.matchBraces":             "the length of a command line's glob",
	"internal/memory/coreutils/split.csplit":                       "closing after a failure fails no more",
	"internal/memory/coreutils/tar.tarPacker":                      "nodes of the file system",
	"internal/memory/coreutils/zip.zipJob":                         "nodes of the file system",
	"internal/memory/curl.runWget":                                 "its description names its program",
	"internal/memory/pattern.Pattern":                              "compileAt bounds the depth of groups",
	"internal/memory/regex.emitter":                                "the parser bounds the depth and the size of the tree",
	"internal/memory/regex.wordTree":                               "the parser bounds the size of the set",
	"internal/memory/regex.isNullable":                             "the parser bounds the depth of the tree",
	"internal/memory/regex.parser.dollarEnds":                      "once, for the token behind",
	"internal/memory/regex.textOf":                                 "the parser bounds the depth of the tree",
	"internal/memory/regex.widthOf":                                "the parser bounds the depth of the tree",
	"internal/memory/regex.backtracker":                            "the parser bounds the depth of groups",
	"internal/memory/strftime.conversion":                          "formats of this package that contain no further ones",
	"internal/memory/syntax.printer":                               "the parser bounds the depth of the tree",
	"internal/memory/syntax.Parser.functionBody":                   "a body that is no group reads its command with a count",
	"internal/memory/syntax.Parser.lexWord":                        "an array's words contain no array",
	"internal/memory/system.makeFixed":                             "a tree of this package",
}

// Test_Recursion_In_Memory_Is_Counted checks that no input overflows the stack of a machine's programs, which would end the
// process.
func Test_Recursion_In_Memory_Is_Counted(t *testing.T) {
	used := map[string]bool{}
	for _, p := range checkPackages(t, "./internal/memory/...") {
		graph := uncounted(p.functions())
		for _, cycle := range cycles(graph) {
			for _, f := range cycle {
				if entry := boundedBy(p.path, f); entry != "" {
					used[entry] = true
					delete(graph, f)
				}
			}
		}
		for _, cycle := range cycles(graph) {
			var names []string
			for _, f := range cycle {
				names = append(names, nameOf(p.path, f))
			}
			slices.Sort(names)
			t.Errorf("these functions call each other and count no depth; count it as a parser's enter does, or say in boundedRecursion what bounds it: %.600s",
				strings.Join(names, ", "))
		}
	}
	for entry := range boundedRecursion {
		if !used[entry] {
			t.Errorf("boundedRecursion lists %s, which does not call itself without a count", entry)
		}
	}
}

// nameOf returns the name of a function in the form of boundedRecursion.
func nameOf(path string, f *types.Func) string {
	name := f.Name()
	if receiver := f.Signature().Recv(); receiver != nil {
		of := receiver.Type()
		if pointer, ok := of.(*types.Pointer); ok {
			of = pointer.Elem()
		}
		if named, ok := of.(*types.Named); ok {
			name = named.Obj().Name() + "." + name
		}
	}
	return path + "." + name
}

// boundedBy returns the entry of boundedRecursion that covers a function, or "".
func boundedBy(path string, f *types.Func) string {
	name := nameOf(path, f)
	for entry := range boundedRecursion {
		if name == entry || strings.HasPrefix(name, entry+".") {
			return entry
		}
	}
	return ""
}

// Test_Programs_In_Memory_Read_Within_Bounds checks that a program reads a whole input only with a named limit, or with the
// functions of package program, which charge the memory.
func Test_Programs_In_Memory_Read_Within_Bounds(t *testing.T) {
	for _, p := range checkPackages(t, "./internal/memory/coreutils/...", "./internal/memory/curl") {
		if strings.HasSuffix(p.path, "test") { // tools of tests
			continue
		}
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if name := p.calledName(call); name == "io.ReadAll" {
					inner, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr)
					if !ok || p.calledName(inner) != "io.LimitReader" {
						t.Errorf("%s: %s of an input without a limit: use program.ReadWhole, or io.LimitReader", p.fset.Position(call.Pos()), name)
					}
				}
				return true
			})
		}
	}
}

// calledName returns the full name of the function that a call names, or "".
func (p checkedPackage) calledName(call *ast.CallExpr) string {
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	f, ok := p.info.Uses[selector.Sel].(*types.Func)
	if !ok {
		return ""
	}
	return f.FullName()
}
