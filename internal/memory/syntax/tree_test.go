package syntax_test

import (
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// tree prints the parsed tree without positions in the source and without spellings that bash does
// not tell apart when it prints: elif, |&, a loop without "in", operators with the descriptor that they have anyway.
type tree struct {
	strings.Builder
	lossy bool // bash does not print it so that it could be read again
}

func treeOf(lists []*syntax.List) *tree {
	t := &tree{}
	for _, l := range lists {
		t.list(l)
	}
	return t
}

func (t *tree) say(format string, args ...any) { fmt.Fprintf(&t.Builder, format, args...) }

func (t *tree) list(l *syntax.List) {
	for _, it := range l.Items {
		t.pipeline(it.First)
		for _, r := range it.Rest {
			t.say("or=%t ", r.Or)
			t.pipeline(r.Pipe)
		}
		t.say("bg=%t\n", it.Background)
	}
}

func (t *tree) pipeline(p *syntax.Pipeline) {
	t.say("pipe %t %t %t (", p.Bang, p.Time, p.TimePosix)
	for _, c := range p.Cmds {
		t.command(c)
	}
	t.say(") ")
}

func (t *tree) command(c *syntax.Command) {
	t.say("%T{", c.Body)
	t.body(c.Body)
	t.say("}")
	for _, r := range c.Redirs {
		t.redir(r)
	}
	if c.Stderr {
		t.say(" 2{}>&(*syntax.Lit(%q) )", "1")
	}
}

func (t *tree) body(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Simple:
		t.say("%t ", n.Decl)
		for _, a := range n.Assigns {
			t.assign(a)
		}
		t.words(n.Words)
	case *syntax.Subshell:
		t.list(n.List)
	case *syntax.Group:
		t.list(n.List)
	case *syntax.If:
		t.branch(n, 0)
	case *syntax.Loop:
		t.say("%t ", n.Until)
		t.list(n.Cond)
		t.list(n.Body)
	case *syntax.For:
		t.say("%s %t in ", n.Name, n.Select)
		if n.In {
			t.words(n.Words)
		} else {
			t.word(&syntax.Word{Parts: []syntax.Part{&syntax.DQ{Parts: []syntax.Part{&syntax.Param{Name: "@"}}}}})
		}
		t.list(n.Body)
	case *syntax.CFor:
		for _, a := range []*syntax.Arith{n.Init, n.Cond, n.Post} {
			t.arith(a)
		}
		t.list(n.Body)
	case *syntax.Case:
		t.word(n.Word)
		for _, c := range n.Clauses {
			t.words(c.Patterns)
			t.list(c.Body)
			t.say("%s ", strings.Replace(c.End, "esac", ";;", 1))
		}
	case *syntax.ArithCmd:
		t.arith(n.X)
	case *syntax.CondCmd:
		t.cond(n.X)
	case *syntax.FuncDecl:
		t.function(n)
	case *syntax.Coproc:
		if s, ok := n.Cmd.Body.(*syntax.Simple); ok && len(s.Assigns) > 0 {
			t.lossy = true // bash prints a name before it, after which it is not an assignment.
		}
		t.say("%s ", n.Name)
		t.command(unnamed(n.Cmd))
	}
}

// unnamed takes away the name that bash prints before a simple command, where it is none.
func unnamed(c *syntax.Command) *syntax.Command {
	s, ok := c.Body.(*syntax.Simple)
	if !ok {
		return c
	}
	simple, command := *s, *c
	for len(simple.Words) > 0 && simple.Words[0].Text == "COPROC" && len(simple.Words)+len(c.Redirs) > 1 {
		simple.Words = simple.Words[1:]
	}
	command.Body = &simple
	return &command
}

// branch writes the rest of an if as if every elif was an if in an else.
func (t *tree) branch(n *syntax.If, i int) {
	t.list(n.Conds[i])
	t.say("then ")
	t.list(n.Thens[i])
	switch {
	case i+1 < len(n.Conds):
		t.say("else pipe false false false (%T{", n)
		t.branch(n, i+1)
		t.say("}) bg=false\n")
	case n.Else != nil:
		t.say("else ")
		t.list(n.Else)
	}
}

// function writes a definition with its body in braces.
func (t *tree) function(f *syntax.FuncDecl) {
	t.say("%s %t ", f.Name, f.Bad)
	if g, ok := f.Body.Body.(*syntax.Group); ok {
		t.list(g.List)
	} else {
		body := *f.Body
		body.Redirs = nil
		t.list(&syntax.List{Items: []*syntax.Item{{First: &syntax.Pipeline{Cmds: []*syntax.Command{&body}}}}})
	}
	for _, r := range f.Body.Redirs {
		t.redir(r)
	}
}

func (t *tree) redir(r *syntax.Redir) {
	op, fd := r.Op, r.Fd
	if fd < 0 && r.Var == "" {
		if fd = 1; op[0] == '<' {
			fd = 0
		}
	}
	if op == "<&" && r.Target.Text == "-" {
		op = ">&"
	}
	t.say(" %d{%s}%s(", fd, r.Var, op)
	if op == "<<" || op == "<<-" {
		t.lossy = t.lossy || endless(r)
		t.say("%q %t %q", r.Delim, r.Quoted, r.Body)
	} else {
		t.word(r.Target)
	}
	t.say(")")
}

// endless reports whether no line can end the here-document: its delimiter cannot be a line, or its last line continues.
func endless(r *syntax.Redir) bool {
	last := strings.TrimSuffix(r.Body, "\n")
	slashes := len(last) - len(strings.TrimRight(last, `\`))
	return strings.Contains(r.Delim, "\n") || r.Op == "<<-" && strings.HasPrefix(r.Delim, "\t") || !r.Quoted && slashes%2 == 1
}

func (t *tree) assign(a *syntax.Assign) {
	t.say("%s %t %t ", a.Name, a.Append, a.Array)
	t.subscript(a.Index)
	if !a.Array {
		t.word(a.Value)
	}
	for _, e := range a.Elems {
		t.say("elem %t ", e.Append)
		t.subscript(e.Index)
		t.word(e.Value)
	}
}

func (t *tree) subscript(s *syntax.Subscript) {
	if s != nil {
		t.say("[%c", s.All)
		t.word(s.X)
		t.say("]")
	}
}

func (t *tree) cond(x syntax.Cond) {
	switch x := x.(type) {
	case *syntax.CondWord:
		t.cond(&syntax.CondUnary{Op: "-n", X: x.X})
	case *syntax.CondUnary:
		t.say("%s ", x.Op)
		t.word(x.X)
	case *syntax.CondBinary:
		t.word(x.X)
		t.say("%s ", x.Op)
		t.word(x.Y)
	case *syntax.CondNot:
		t.say("! ")
		t.cond(x.X)
	case *syntax.CondLogic:
		t.say("(")
		t.cond(x.X)
		t.say(" or=%t ", x.Or)
		t.cond(x.Y)
		t.say(")")
	case *syntax.CondGroup:
		t.say("group(")
		t.cond(x.X)
		t.say(")")
	}
}

func (t *tree) words(list []*syntax.Word) {
	for _, w := range list {
		t.word(w)
	}
	t.say("; ")
}

func (t *tree) word(w *syntax.Word) {
	if w == nil {
		t.say("nil ")
		return
	}
	if w.Assign != nil {
		t.assign(w.Assign)
		return
	}
	t.parts(w.Parts)
	t.say(" ")
}

func (t *tree) arith(a *syntax.Arith) {
	if a == nil {
		a = &syntax.Arith{X: &syntax.Word{Parts: []syntax.Part{&syntax.Lit{S: "1"}}}}
	}
	t.word(a.X)
}

func (t *tree) parts(list []syntax.Part) {
	quoted := ""
	for i, p := range list {
		if q, ok := p.(*syntax.Quoted); ok && i+1 < len(list) {
			if _, ok := list[i+1].(*syntax.Quoted); ok { // A quote inside quotes is written as several quotes.
				quoted += q.S
				continue
			}
		}
		t.say("%T(", p)
		switch p := p.(type) {
		case *syntax.Lit:
			t.say("%q", p.S)
		case *syntax.Quoted:
			t.say("%q", quoted+p.S)
			quoted = ""
		case *syntax.DQ:
			t.parts(p.Parts)
		case *syntax.Param:
			t.param(p)
		case *syntax.CmdSub:
			t.inside(p.List, p.Text)
		case *syntax.ArithSub:
			t.arith(p.X)
		case *syntax.Pattern:
			t.parts(p.Parts)
		case *syntax.ProcSub:
			t.say("%t ", p.Out)
			t.inside(p.List, p.Text)
		}
		t.say(")")
	}
}

// inside writes the commands of a substitution; when they are read only later, their text.
func (t *tree) inside(l *syntax.List, text string) {
	if l == nil {
		t.say("%q", text)
		return
	}
	t.list(l)
}

func (t *tree) param(p *syntax.Param) {
	if p.Bad {
		t.say("bad")
		return
	}
	t.say("%s %t %t %c %s ", p.Name, p.Indirect, p.Length, p.Names, p.Op)
	t.subscript(p.Index)
	t.word(p.Arg)
	t.word(p.Arg2)
}
