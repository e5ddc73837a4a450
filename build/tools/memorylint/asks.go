package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// asks is the fact that a function asks whether the command may continue, on some way through it.
type asks struct{}

// AFact marks asks as a fact.
func (*asks) AFact() {}

func (*asks) String() string { return "asks" }

var (
	// streamMethod are methods that transfer data: a stream of the machine fails when the command's time is over.
	streamMethod = regexp.MustCompile(`^(Read|Write|Peek|Discard|Flush|Copy|Scan|Fprint)`)
	// accountName are names of methods and function values that charge the machine, or wait for it.
	accountName = regexp.MustCompile(`^([Ss]pend|[Rr]eserve|[Tt]ake|[Cc]harge|tick|Wait)$`)
)

// program is what a package says about asking.
type program struct {
	pass *analysis.Pass
	own  map[*types.Func]bool // declared functions of this package that ask
}

// findAsking exports the fact for all functions of the package that ask, directly or by a call.
func findAsking(pass *analysis.Pass) program {
	p := program{pass, map[*types.Func]bool{}}
	bodies := map[*types.Func]*ast.BlockStmt{}
	for _, file := range pass.Files {
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
				if f, ok := pass.TypesInfo.Defs[decl.Name].(*types.Func); ok {
					bodies[f] = decl.Body
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for f, body := range bodies {
			if !p.own[f] && p.asksIn(body) {
				p.own[f], changed = true, true
			}
		}
	}
	for f := range p.own {
		pass.ExportObjectFact(f, new(asks))
	}
	return p
}

// asksIn reports whether a node contains a place that asks whether the command may continue.
func (p program) asksIn(node ast.Node) (found bool) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectStmt, *ast.SendStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.CallExpr:
			found = found || p.asksCall(n)
		}
		return !found
	})
	return found
}

func (p program) asksCall(call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		if isContext(p.pass.TypesInfo.TypeOf(arg)) {
			return true
		}
	}
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr: // an instance of a generic function
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	var id *ast.Ident
	switch x := fun.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
		if isContext(p.pass.TypesInfo.TypeOf(x.X)) {
			return true
		}
	default:
		return false
	}
	if accountName.MatchString(id.Name) {
		return true
	}
	f, ok := p.pass.TypesInfo.Uses[id].(*types.Func)
	if !ok {
		return false
	}
	f = f.Origin()
	if f.Signature().Recv() != nil && isStreamMethod(f) {
		return true
	}
	return p.own[f] || f.Pkg() != p.pass.Pkg && p.pass.ImportObjectFact(f, new(asks))
}

// isStreamMethod reports whether a method transfers data of a stream. Buffers of the standard library hold data themselves.
func isStreamMethod(f *types.Func) bool {
	if !streamMethod.MatchString(f.Name()) {
		return false
	}
	full := f.FullName()
	return !strings.HasPrefix(full, "(*strings.") && !strings.HasPrefix(full, "(*bytes.")
}

func isContext(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Name() == "Context" && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "context"
}

// bounded holds the lines of a file that a comment exempts.
type bounded map[int]bool

var boundedComment = regexp.MustCompile(`\bbounded: \S`)

func boundedLines(pass *analysis.Pass, file *ast.File) bounded {
	lines := bounded{}
	for _, group := range file.Comments {
		if boundedComment.MatchString(group.Text()) {
			lines[pass.Fset.Position(group.Pos()).Line] = true
			lines[pass.Fset.Position(group.End()).Line+1] = true
		}
	}
	return lines
}

func (b bounded) covers(pass *analysis.Pass, n ast.Node) bool {
	return b[pass.Fset.Position(n.Pos()).Line]
}
