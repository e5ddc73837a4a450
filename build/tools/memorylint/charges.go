package main

import (
	"go/ast"
	"go/types"
	"regexp"

	"golang.org/x/tools/go/analysis"
)

// charges is the fact that a function charges the machine for memory. Depth is the number of calls between the function and
// the charge.
type charges struct{ Depth int }

// AFact marks charges as a fact.
func (*charges) AFact() {}

func (*charges) String() string { return "charges" }

// maxChargeDepth bounds the calls between a charge and the function that it counts for. Behind more calls, a charge is
// usually for something else.
const maxChargeDepth = 2

var (
	// chargeName are names of methods and function values that charge the machine for a number of bytes.
	chargeName = regexp.MustCompile(`^([Rr]eserve|[Tt]ake|[Cc]harge|[Hh]old)$`)
	// transferName are names of functions that charge for buffers of their own while they transfer data.
	transferName = regexp.MustCompile(`^(Next|Read|Write|Flush|Print|Error|Warn|Fail|Usage|Open|Close|Run|Start|Call|fill|run|next|read|write|fail|error|warn|open)`)
	// countedName are functions that charge for all that they return.
	countedName = regexp.MustCompile(`^(ReadWhole|GrowBuffer)$`)
)

// chargers are the functions that charge.
type chargers struct {
	pass   *analysis.Pass
	bodies map[*types.Func]*ast.FuncDecl
	own    map[*types.Func]int // depth of the declared functions of this package that charge
}

// findChargers exports the fact for all functions of the package that charge, directly or by a call.
func findChargers(pass *analysis.Pass) chargers {
	c := chargers{pass, map[*types.Func]*ast.FuncDecl{}, map[*types.Func]int{}}
	for _, file := range pass.Files {
		for _, d := range file.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
				if f, ok := pass.TypesInfo.Defs[decl.Name].(*types.Func); ok {
					c.bodies[f] = decl
				}
			}
		}
	}
	for depth := range maxChargeDepth + 1 {
		var found []*types.Func
		for f, decl := range c.bodies {
			if _, ok := c.own[f]; !ok && c.chargesIn(decl.Body) {
				found = append(found, f)
			}
		}
		for _, f := range found {
			c.own[f] = depth
		}
	}
	for f, depth := range c.own {
		if !transferName.MatchString(f.Name()) || countedName.MatchString(f.Name()) {
			pass.ExportObjectFact(f, &charges{depth})
		}
	}
	return c
}

// chargesIn reports whether a node contains a charge, or a call of a function that charges.
func (c chargers) chargesIn(node ast.Node) (found bool) {
	ast.Inspect(node, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			found = found || c.chargesCall(call)
		}
		return !found
	})
	return found
}

func (c chargers) chargesCall(call *ast.CallExpr) bool {
	id := calledIdent(call)
	if id == nil {
		return false
	}
	f, ok := c.pass.TypesInfo.Uses[id].(*types.Func)
	// A declared function with a name in small letters is judged by what it calls.
	if chargeName.MatchString(id.Name) && (!ok || f.Exported()) && isCharge(c.pass.TypesInfo.TypeOf(call.Fun)) {
		return true
	}
	if !ok {
		return false
	}
	f = f.Origin()
	if countedName.MatchString(f.Name()) {
		return true
	}
	if transferName.MatchString(f.Name()) {
		return false
	}
	depth, ok := c.own[f]
	if !ok && f.Pkg() != c.pass.Pkg {
		fact := new(charges)
		ok = c.pass.ImportObjectFact(f, fact)
		depth = fact.Depth
	}
	return ok && depth < maxChargeDepth
}

// isCharge reports whether a function takes a number of bytes, and says whether there are as many, or ends the program.
func isCharge(t types.Type) bool {
	f, ok := t.(*types.Signature)
	if !ok || f.Params().Len() == 0 || f.Results().Len() > 1 {
		return false
	}
	basic, ok := f.Params().At(0).Type().Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsInteger == 0 {
		return false
	}
	if f.Results().Len() == 0 {
		return true
	}
	result := f.Results().At(0).Type()
	return types.Identical(result, types.Typ[types.Bool]) || types.Identical(result, types.Universe.Lookup("error").Type())
}

// calledIdent returns the name that a call has for its function, or nil.
func calledIdent(call *ast.CallExpr) *ast.Ident {
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr: // an instance of a generic function
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	switch x := fun.(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return x.Sel
	}
	return nil
}
