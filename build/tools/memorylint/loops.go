package main

import (
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/analysis"
)

var loops = &analysis.Analyzer{
	Name:      "loops",
	Doc:       "reports loops without an end in which nothing asks whether the command may continue",
	Run:       runLoops,
	FactTypes: []analysis.Fact{new(asks)},
}

func runLoops(pass *analysis.Pass) (any, error) {
	p := findAsking(pass)
	for _, file := range pass.Files {
		exempt := boundedLines(pass, file)
		ast.Inspect(file, func(n ast.Node) bool {
			loop, ok := n.(*ast.ForStmt)
			if !ok || isCounted(loop) || consumes(loop) || p.asksIn(loop.Body) || loop.Cond != nil && p.asksIn(loop.Cond) || exempt.covers(pass, loop) {
				return true
			}
			pass.Reportf(loop.Pos(), "this loop has no bound, and nothing in it asks whether the command may continue: "+
				"call Spend or the context, or say what bounds it in a comment \"bounded: REASON\"")
			return true
		})
	}
	return nil, nil
}

// isCounted reports whether the end of a loop depends on something finite: its condition compares, asks for a length or a
// prefix, is about an index that the loop changes, or follows a chain of pointers.
func isCounted(loop *ast.ForStmt) (counted bool) {
	if loop.Cond == nil {
		return false
	}
	stepped := steppedIn(loop)
	ast.Inspect(loop.Cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			counted = counted || isFiniteComparison(n, stepped)
		case *ast.IndexExpr:
			counted = counted || mentions(n.Index, stepped)
		case *ast.CallExpr:
			counted = counted || isFiniteCall(n, stepped)
		}
		return !counted
	})
	return counted
}

// consumes reports whether a loop cuts a text or slice shorter, or counts an index that it compares with a length.
func consumes(loop *ast.ForStmt) (found bool) {
	stepped := steppedIn(loop)
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				id, ok := left.(*ast.Ident)
				if !ok || len(n.Rhs) != len(n.Lhs) || n.Tok != token.ASSIGN {
					continue
				}
				ast.Inspect(n.Rhs[i], func(part ast.Node) bool {
					if cut, ok := part.(*ast.SliceExpr); ok && mentions(cut.X, map[string]bool{id.Name: true}) {
						found = true
					}
					return !found
				})
			}
		case *ast.BinaryExpr:
			if call, ok := n.Y.(*ast.CallExpr); ok && mentions(n.X, stepped) {
				id, ok := call.Fun.(*ast.Ident)
				found = found || ok && id.Name == "len"
			}
		}
		return !found
	})
	return found
}

// isFiniteComparison reports whether an order of numbers, an end of a text, a chain of pointers or the bits of a number end a
// loop.
func isFiniteComparison(b *ast.BinaryExpr, stepped map[string]bool) bool {
	switch b.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	case token.NEQ:
		switch y := b.Y.(type) {
		case *ast.BasicLit:
			return y.Value == `""` || y.Value == "0" && mentions(b.X, stepped)
		case *ast.Ident:
			return y.Name == "nil" && mentions(b.X, stepped)
		}
	default:
	}
	return false
}

func isFiniteCall(call *ast.CallExpr, stepped map[string]bool) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		if f.Name == "len" {
			return true
		}
	case *ast.SelectorExpr:
		if f.Sel.Name == "HasPrefix" || f.Sel.Name == "HasSuffix" {
			return true
		}
	}
	for _, arg := range call.Args {
		if mentions(arg, stepped) {
			return true
		}
	}
	return false
}

// steppedIn returns the variables that a loop counts up or down, shifts, or sets to a field of themselves.
func steppedIn(loop *ast.ForStmt) map[string]bool {
	stepped := map[string]bool{}
	look := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			if id, ok := n.X.(*ast.Ident); ok {
				stepped[id.Name] = true
			}
		case *ast.AssignStmt:
			id, ok := n.Lhs[0].(*ast.Ident)
			if !ok || len(n.Lhs) > 1 {
				break
			}
			switch n.Tok {
			case token.SHR_ASSIGN, token.AND_ASSIGN, token.QUO_ASSIGN, token.ADD_ASSIGN, token.SUB_ASSIGN:
				stepped[id.Name] = true
			case token.ASSIGN:
				if of, ok := n.Rhs[0].(*ast.SelectorExpr); ok && mentions(of.X, map[string]bool{id.Name: true}) {
					stepped[id.Name] = true
				}
			default:
			}
		}
		return true
	}
	if loop.Post != nil {
		ast.Inspect(loop.Post, look)
	}
	ast.Inspect(loop.Body, look)
	return stepped
}

func mentions(e ast.Expr, names map[string]bool) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && names[id.Name] {
			found = true
		}
		return !found
	})
	return found
}
