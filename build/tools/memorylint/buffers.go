package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"
)

var buffers = &analysis.Analyzer{
	Name:      "buffers",
	Doc:       "reports buffers that grow with the input of a command and are not charged to the machine",
	Run:       runBuffers,
	FactTypes: []analysis.Fact{new(charges)},
}

func runBuffers(pass *analysis.Pass) (any, error) {
	c := findChargers(pass)
	if strings.HasSuffix(pass.Pkg.Path(), "test") { // tools of tests
		return nil, nil
	}
	calls := c.findCalls()
	exempt := map[*ast.File]bounded{}
	for _, file := range pass.Files {
		exempt[file] = boundedLines(pass, file)
	}
	for f, decl := range c.bodies {
		if !exempt[fileOf(pass, decl)].covers(pass, decl) {
			b := &bufferCheck{chargers: c, exempt: exempt, repeated: calls.isRepeated(f), paid: calls.isPaid(f)}
			b.node(decl.Body, nil)
		}
	}
	return nil, nil
}

func fileOf(pass *analysis.Pass, n ast.Node) *ast.File {
	for _, file := range pass.Files {
		if file.FileStart <= n.Pos() && n.Pos() < file.FileEnd {
			return file
		}
	}
	return nil
}

// callSite is a call of a function of the package.
type callSite struct {
	from     *types.Func
	repeated bool // in a loop without a bound, or in a function that others call
}

// callGraph has the static calls between the functions of a package.
type callGraph struct {
	chargers

	to map[*types.Func][]callSite
}

func (c chargers) findCalls() callGraph {
	g := callGraph{c, map[*types.Func][]callSite{}}
	for f, decl := range c.bodies {
		g.look(f, decl.Body, false)
	}
	return g
}

func (g callGraph) look(from *types.Func, node ast.Node, repeated bool) {
	ast.Inspect(node, func(n ast.Node) bool {
		if n == node {
			return true
		}
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			g.look(from, n, repeated || g.loopKind(n) == free)
			return false
		case *ast.FuncLit:
			g.look(from, n, true)
			return false
		case *ast.Ident:
			if f, ok := g.pass.TypesInfo.Uses[n].(*types.Func); ok && f.Pkg() == g.pass.Pkg {
				f = f.Origin()
				g.to[f] = append(g.to[f], callSite{from, repeated})
			}
		}
		return true
	})
}

// isRepeated reports whether a function is called in a loop without a bound, directly or by its callers.
func (g callGraph) isRepeated(f *types.Func) bool { return g.anyRepeated(f, map[*types.Func]bool{}) }

func (g callGraph) anyRepeated(f *types.Func, seen map[*types.Func]bool) bool {
	if seen[f] {
		return false
	}
	seen[f] = true
	for _, site := range g.to[f] {
		if site.repeated || site.from == f || g.anyRepeated(site.from, seen) {
			return true
		}
	}
	return false
}

// isPaid reports whether a function charges, or all of its callers do.
func (g callGraph) isPaid(f *types.Func) bool {
	if _, ok := g.own[f]; ok {
		return true
	}
	if len(g.to[f]) == 0 {
		return false
	}
	for _, site := range g.to[f] {
		if depth, ok := g.own[site.from]; !ok || depth > 1 {
			return false
		}
	}
	return true
}

// loopKind says how often a loop turns.
type loopKind int

const (
	fixed   loopKind = iota // a number of times that the program states
	derived                 // once for each element of a list that is in memory
	text                    // once for each byte of a text that is in memory
	free                    // as often as its input says
)

func (c chargers) loopKind(n ast.Node) loopKind {
	switch n := n.(type) {
	case *ast.RangeStmt:
		return c.rangeKind(n)
	case *ast.ForStmt:
		return c.forKind(n)
	}
	return fixed
}

func (c chargers) rangeKind(loop *ast.RangeStmt) loopKind {
	switch t := c.pass.TypesInfo.TypeOf(loop.X).Underlying().(type) {
	case *types.Basic:
		switch {
		case c.pass.TypesInfo.Types[loop.X].Value != nil:
			return fixed
		case t.Info()&types.IsString != 0:
			return text
		}
		return c.sizeKind(loop.X)
	case *types.Slice:
		return kindOf(t)
	case *types.Array:
		return fixed
	case *types.Pointer:
		return fixed
	case *types.Map:
		return derived
	}
	return free
}

// kindOf returns the kind of a loop over the elements of a text or list.
func kindOf(t types.Type) loopKind {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return text
	case *types.Slice:
		if basic, ok := t.Elem().Underlying().(*types.Basic); ok && basic.Kind() == types.Byte {
			return text
		}
	}
	return derived
}

// sizeKind returns the kind of a number: free unless it is made of constants and of lengths of what is in memory.
func (c chargers) sizeKind(e ast.Expr) loopKind {
	if c.pass.TypesInfo.Types[e].Value != nil {
		return fixed
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		x, y := c.sizeKind(e.X), c.sizeKind(e.Y)
		switch e.Op {
		case token.REM, token.AND: // at most the smaller one
			return min(x, y)
		case token.QUO, token.SHR, token.SUB:
			return x
		case token.MUL, token.SHL:
			if x != fixed && y != fixed {
				return free
			}
		default:
		}
		return max(x, y)
	case *ast.CallExpr:
		id := calledIdent(e)
		if id == nil {
			return free
		}
		switch id.Name {
		case "len", "cap":
			if len(e.Args) == 0 {
				return text
			}
			return kindOf(c.pass.TypesInfo.TypeOf(e.Args[0]))
		case "min":
			least := free
			for _, arg := range e.Args {
				least = min(least, c.sizeKind(arg))
			}
			return least
		case "max":
			most := fixed
			for _, arg := range e.Args {
				most = max(most, c.sizeKind(arg))
			}
			return most
		case "Len", "NumField", "RuneCount", "RuneCountInString", "Count", "Index", "IndexByte", "LastIndexByte":
			return text
		}
		if c.pass.TypesInfo.Types[e.Fun].IsType() && len(e.Args) == 1 {
			return c.sizeKind(e.Args[0])
		}
	case *ast.Ident:
		if basic, ok := c.pass.TypesInfo.TypeOf(e).Underlying().(*types.Basic); ok && (basic.Kind() == types.Byte || basic.Kind() == types.Uint16 || basic.Kind() == types.Bool) {
			return fixed
		}
		if def := c.definition(e); def != nil {
			return c.sizeKind(def)
		}
	}
	return free
}

// definition returns the only value of a local variable, or nil.
func (c chargers) definition(id *ast.Ident) (value ast.Expr) {
	v, ok := c.pass.TypesInfo.Uses[id].(*types.Var)
	if !ok {
		return nil
	}
	file := fileOf(c.pass, id)
	times := 0
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				l, ok := left.(*ast.Ident)
				if !ok || c.pass.TypesInfo.Defs[l] != v && c.pass.TypesInfo.Uses[l] != v {
					continue
				}
				times++
				if len(n.Rhs) == len(n.Lhs) && n.Tok == token.DEFINE {
					value = n.Rhs[i]
				}
			}
		case *ast.IncDecStmt:
			if l, ok := n.X.(*ast.Ident); ok && c.pass.TypesInfo.Uses[l] == v {
				times++
			}
		case *ast.UnaryExpr:
			if l, ok := n.X.(*ast.Ident); ok && n.Op == token.AND && c.pass.TypesInfo.Uses[l] == v {
				times++
			}
		}
		return true
	})
	if times != 1 {
		return nil
	}
	return value
}

func (c chargers) forKind(loop *ast.ForStmt) loopKind {
	if loop.Cond == nil {
		if consumes(loop) {
			return text
		}
		return free
	}
	stepped := steppedIn(loop)
	if call, ok := loop.Cond.(*ast.CallExpr); ok && c.isArgumentNext(call) {
		return derived
	}
	kind := free
	ast.Inspect(loop.Cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			switch n.Op {
			case token.LSS, token.LEQ, token.GTR, token.GEQ, token.NEQ:
				x, y := c.sizeKind(n.X), c.sizeKind(n.Y)
				switch {
				case isNil(n.Y) && mentions(n.X, stepped):
					kind = min(kind, derived)
				case n.Op == token.NEQ && isEmptyText(n.Y):
					kind = min(kind, text)
				case n.Op == token.NEQ && c.pass.TypesInfo.Types[n.Y].Value != nil:
					kind = min(kind, x)
				case mentions(n.X, stepped) && n.Op != token.NEQ && !isZero(n.Y):
					kind = min(kind, y)
				case mentions(n.Y, stepped) && n.Op != token.NEQ:
					kind = min(kind, x)
				case n.Op != token.NEQ:
					kind = min(kind, min(x, max(y, text)))
				}
			default:
			}
		case *ast.CallExpr:
			if id := calledIdent(n); id != nil && (id.Name == "HasPrefix" || id.Name == "HasSuffix") {
				kind = min(kind, text)
			}
		}
		return true
	})
	if kind == free && consumes(loop) {
		kind = text
	}
	return kind
}

// isArgumentNext reports whether a call goes to the next of the command's arguments, which the shell has charged.
func (c chargers) isArgumentNext(call *ast.CallExpr) bool {
	id := calledIdent(call)
	if id == nil || id.Name != "Next" {
		return false
	}
	f, ok := c.pass.TypesInfo.Uses[id].(*types.Func)
	return ok && (strings.HasSuffix(f.FullName(), "/program.Options).Next") || strings.HasSuffix(f.FullName(), "/getopt.Parser).Next"))
}

func isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}

func isEmptyText(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Value == `""`
}

func isZero(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Value == "0"
}

// turn is a loop around a node, or a function value, which others call as often as they like.
type turn struct {
	node ast.Node
	kind loopKind
}

// bufferCheck looks for what grows in one function.
type bufferCheck struct {
	chargers

	exempt   map[*ast.File]bounded
	repeated bool // the function is called in a loop without a bound
	paid     bool // the function or all of its callers charge
}

func (b *bufferCheck) node(root ast.Node, around []turn) {
	ast.Inspect(root, func(n ast.Node) bool {
		if n == root {
			return true
		}
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			b.node(n, append(around, turn{n, b.loopKind(n)}))
			return false
		case *ast.FuncLit:
			b.node(n, append(around, turn{n, free}))
			return false
		case *ast.AssignStmt:
			b.assignment(n, around)
		case *ast.CallExpr:
			b.call(n, around)
		}
		return true
	})
}

func (b *bufferCheck) report(n ast.Node, what string) {
	if b.paid || b.exempt[fileOf(b.pass, n)].covers(b.pass, n) {
		return
	}
	b.pass.Reportf(n.Pos(), "%s, and nothing charges the machine for it: call Reserve before, or say what bounds it in a comment \"bounded: REASON\"", what)
}

// assignment checks x = append(x, ...), x += text and m[key] = value.
func (b *bufferCheck) assignment(n *ast.AssignStmt, around []turn) {
	for i, left := range n.Lhs {
		switch {
		case n.Tok == token.ADD_ASSIGN && isText(b.pass.TypesInfo.TypeOf(left)):
			b.grows(n, left, n.Rhs[0], 1, true, around)
		case len(n.Rhs) == len(n.Lhs) && isAppend(n.Rhs[i]):
			call := ast.Unparen(n.Rhs[i]).(*ast.CallExpr)
			if len(call.Args) < 2 || types.ExprString(call.Args[0]) != types.ExprString(left) {
				continue
			}
			slice, ok := b.pass.TypesInfo.TypeOf(left).Underlying().(*types.Slice)
			if !ok {
				continue
			}
			b.grows(n, left, call.Args[1], b.sizeOf(slice.Elem()), call.Ellipsis.IsValid(), around)
		}
		if index, ok := left.(*ast.IndexExpr); ok {
			if m, ok := b.pass.TypesInfo.TypeOf(index.X).Underlying().(*types.Map); ok && !isSmall(m.Key()) {
				b.grows(n, index.X, index.Index, 32, false, around)
			}
		}
	}
}

// isSmall reports whether a type has few values.
func isSmall(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && (basic.Kind() == types.Byte || basic.Kind() == types.Bool || basic.Kind() == types.Uint16)
}

func isText(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

func isAppend(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := call.Fun.(*ast.Ident)
	return ok && id.Name == "append"
}

func (b *bufferCheck) sizeOf(t types.Type) int64 {
	defer func() { _ = recover() }()
	return b.pass.TypesSizes.Sizeof(t)
}

// grows reports a container of elements of some size that gets one value, or many, in each turn of a loop.
func (b *bufferCheck) grows(n ast.Node, container, value ast.Expr, size int64, many bool, around []turn) {
	root, field := rootOf(container)
	if root == nil {
		return
	}
	declared := b.pass.TypesInfo.ObjectOf(root)
	kind := fixed
	if field && b.repeated && b.isPointed(declared, root) {
		kind = free
	}
	for _, t := range around {
		inside := declared != nil && t.node.Pos() <= declared.Pos() && declared.Pos() < t.node.End()
		if inside && !(field && b.isPointed(declared, root)) {
			kind = fixed
			continue
		}
		k := t.kind
		if loop, ok := t.node.(*ast.RangeStmt); ok && k == text && (many && !b.mentionsVar(value, loop)) && b.pass.TypesInfo.Types[value].Value == nil {
			k = free // a text for each byte
		}
		kind = max(kind, k)
	}
	if (kind == free || kind == text && size > 4) && !b.isExempt(container) {
		b.report(n, "this grows with the input of the command")
	}
}

// isExempt reports whether a comment at the declaration of a variable or field says what bounds it.
func (b *bufferCheck) isExempt(container ast.Expr) bool {
	var id *ast.Ident
	switch x := ast.Unparen(container).(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	case *ast.StarExpr:
		return b.isExempt(x.X)
	case *ast.IndexExpr:
		return b.isExempt(x.X)
	default:
		return false
	}
	obj := b.pass.TypesInfo.ObjectOf(id)
	if obj == nil || obj.Pkg() != b.pass.Pkg {
		return false
	}
	for file, lines := range b.exempt {
		if file.FileStart <= obj.Pos() && obj.Pos() < file.FileEnd {
			return lines[b.pass.Fset.Position(obj.Pos()).Line]
		}
	}
	return false
}

// isPointed reports whether a variable refers to something that outlives it.
func (b *bufferCheck) isPointed(obj types.Object, root *ast.Ident) bool {
	if obj == nil {
		return false
	}
	switch obj.Type().Underlying().(type) {
	case *types.Pointer, *types.Map:
		return true
	}
	return false
}

func (b *bufferCheck) mentionsVar(value ast.Expr, loop *ast.RangeStmt) bool {
	names := map[string]bool{}
	for _, e := range []ast.Expr{loop.Key, loop.Value} {
		if id, ok := e.(*ast.Ident); ok {
			names[id.Name] = true
		}
	}
	return mentions(value, names)
}

// rootOf returns the variable at the beginning of an expression, and whether the expression is a part of it.
func rootOf(e ast.Expr) (root *ast.Ident, part bool) {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return x, part
		case *ast.SelectorExpr:
			e, part = x.X, true
		case *ast.IndexExpr:
			e, part = x.X, true
		case *ast.StarExpr:
			e, part = x.X, true
		default:
			return nil, false
		}
	}
}

var (
	// splitter are functions of strings and bytes that return a list with a header for each part of a text.
	splitter = regexp.MustCompile(`^(strings|bytes)\.(Split|SplitAfter|Fields|FieldsFunc)$`)
	// holder are functions and methods that return the whole of an input, or a line of any length.
	holder = regexp.MustCompile(`^(io\.ReadAll|\(\*bufio\.Reader\)\.Read(String|Bytes)|.*\.ReadFile)$`)
	// finder are methods of regular expressions that return all matches.
	finder = regexp.MustCompile(`^\(\*regexp\.Regexp\)\.(FindAll|Split)`)
	// builder are methods of buffers of the standard library that make them larger.
	builder = regexp.MustCompile(`^\(\*(strings\.Builder|bytes\.Buffer)\)\.(Write|Grow|ReadFrom)`)
)

func (b *bufferCheck) call(n *ast.CallExpr, around []turn) {
	id := calledIdent(n)
	if id == nil {
		return
	}
	switch f := b.pass.TypesInfo.Uses[id].(type) {
	case *types.Builtin:
		if f.Name() == "make" && len(n.Args) > 1 {
			b.made(n)
		}
	case *types.Func:
		b.called(n, f.FullName(), around)
	}
}

// largeBuffer is the size in bytes from which a buffer of constant size is charged, too: a machine has many processes.
const largeBuffer = 1 << 20

// made checks make of a size that is neither a constant nor a length.
func (b *bufferCheck) made(n *ast.CallExpr) {
	t := b.pass.TypesInfo.TypeOf(n.Args[0]).Underlying()
	if _, ok := t.(*types.Chan); ok {
		return
	}
	size := int64(32)
	if slice, ok := t.(*types.Slice); ok {
		size = b.sizeOf(slice.Elem())
	}
	kind := fixed
	for _, arg := range n.Args[1:] {
		kind = max(kind, b.sizeKind(arg))
		if v := b.pass.TypesInfo.Types[arg].Value; v != nil {
			if count, ok := constant.Int64Val(constant.ToInt(v)); ok && count*size >= largeBuffer {
				b.report(n, "each process of a pipeline has one of these large buffers")
				return
			}
		}
	}
	if kind == free || kind == text && size > 4 {
		b.report(n, "the size of this is not a constant")
	}
}

func (b *bufferCheck) called(n *ast.CallExpr, name string, around []turn) {
	switch {
	case name == "strings.Repeat" || name == "bytes.Repeat":
		if b.sizeKind(n.Args[1]) == free {
			b.report(n, "the size of this is not a constant")
		}
	case splitter.MatchString(name):
		if b.pass.TypesInfo.Types[n.Args[0]].Value == nil {
			b.report(n, "this takes 16 bytes or more for each byte of a text")
		}
	case finder.MatchString(name):
		b.report(n, "this takes a list for each match")
	case holder.MatchString(name):
		if inner, ok := ast.Unparen(n.Args[0]).(*ast.CallExpr); ok && len(n.Args) == 1 {
			if id := calledIdent(inner); id != nil && id.Name == "LimitReader" && b.sizeKind(inner.Args[1]) != free {
				return
			}
		}
		b.report(n, "this holds an input of any length")
	case builder.MatchString(name):
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) > 0 {
			b.grows(n, sel.X, n.Args[0], 1, sel.Sel.Name == "Write" || sel.Sel.Name == "WriteString", around)
		}
	}
}
