package syntax

import (
	"strconv"
	"strings"
)

// CommandText writes a command as bash shows it in BASH_COMMAND and jobs.
func CommandText(c *Command) string {
	p := &printer{}
	p.command(c)
	p.heredocs("")
	return p.b.String()
}

// ItemText writes an and-or list with the & at its end.
func ItemText(it *Item) string {
	p := &printer{}
	p.item(it)
	p.heredocs("")
	return p.b.String()
}

// FunctionText writes a definition as declare -f prints it.
func FunctionText(f *FuncDecl) string {
	p := &printer{}
	p.function(f, "")
	return p.b.String()
}

// printer writes in bash's layout.
type printer struct {
	b       strings.Builder
	indent  int
	inFunc  int
	skip    bool // the next indentation
	pending []*Redir
	wasHere bool // a here-document has just ended the line
}

func (p *printer) put(s string) { p.b.WriteString(s) }

func (p *printer) pad() {
	if p.skip {
		p.skip = false
		return
	}
	p.put(strings.Repeat(" ", p.indent))
}

func (p *printer) newline(s string) {
	p.put("\n" + strings.Repeat(" ", p.indent) + s)
}

// semicolon ends a command unless & or a newline has.
func (p *printer) semicolon() {
	s := p.b.String()
	if s != "" && (s[len(s)-1] == '&' || s[len(s)-1] == '\n') {
		return
	}
	p.put(";")
}

// heredocs writes the bodies of here-documents of the line.
func (p *printer) heredocs(s string) {
	if len(p.pending) == 0 {
		p.put(s)
		return
	}
	list := p.pending
	p.pending = nil
	p.put(s)
	p.put("\n")
	for _, r := range list {
		p.put(r.Body + r.Delim + "\n")
	}
	if s != "" {
		p.put(" ")
	}
	p.wasHere = true
}

func (p *printer) list(l *List) {
	for i, it := range l.Items {
		p.item(it)
		if i == len(l.Items)-1 {
			break
		}
		if it.Background {
			p.put(" ")
			p.skip = true
			continue
		}
		if len(p.pending) == 0 {
			if !p.wasHere {
				p.put(";")
			}
			p.wasHere = false
		} else {
			p.heredocs("")
		}
		if p.inFunc > 0 {
			p.put("\n")
		} else {
			p.put(" ")
			p.skip = true
		}
	}
}

func (p *printer) item(it *Item) {
	p.pipeline(it.First)
	for _, r := range it.Rest {
		op := " && "
		if r.Or {
			op = " || "
		}
		p.heredocs(op)
		p.skip = true
		p.pipeline(r.Pipe)
	}
	if it.Background {
		p.heredocs(" &")
	}
}

func (p *printer) pipeline(pl *Pipeline) {
	if pl.Time {
		p.pad()
		p.put("time ")
		if pl.TimePosix {
			p.put("-p ")
		}
		p.skip = true
	}
	bang := ""
	switch {
	case pl.Bang:
		bang = "! "
	case len(pl.Cmds) == 0 && !pl.Time:
		bang = "! ! " // Twice is not at all, of nothing.
	}
	if bang != "" {
		p.pad()
		p.put(bang)
		p.skip = true
	}
	for i, c := range pl.Cmds {
		if i > 0 {
			p.heredocs(" |")
			p.put(" ")
			p.skip = true
		}
		p.command(c)
		if c.Stderr {
			p.put(" 2>&1")
		}
	}
}

func (p *printer) command(c *Command) {
	switch b := c.Body.(type) {
	case *FuncDecl:
		p.pad()
		p.function(b, "function ")
		return
	case *Simple:
		p.pad()
		p.simple(b, c.Redirs)
		return
	}
	p.pad()
	p.body(c)
	if len(c.Redirs) > 0 {
		p.put(" ")
		p.redirs(c.Redirs)
	}
}

func (p *printer) simple(s *Simple, redirs []*Redir) {
	var parts []string
	for _, a := range s.Assigns {
		text := a.Shown
		if text == "" {
			text = a.Text
		}
		parts = append(parts, text)
	}
	for _, w := range s.Words {
		parts = append(parts, w.shown())
	}
	if len(redirs) > 0 && len(s.Assigns) == 0 && len(s.Words) > 0 && isReservedWord(s.Words[0].Text) {
		p.redirs(redirs)
		p.put(" ")
		redirs = nil
	}
	p.put(strings.Join(parts, " "))
	if len(redirs) > 0 {
		if len(parts) > 0 {
			p.put(" ")
		}
		p.redirs(redirs)
	}
}

// isReservedWord reports whether a word is reserved. Behind a redirection such a word can be the name of a command.
func isReservedWord(word string) bool {
	switch word {
	case "!", "{", "}", "[[", "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until",
		"do", "done", "in", "function", "time", "coproc":
		return true
	}
	return false
}

func (p *printer) words(list []*Word) {
	for i, w := range list {
		if i > 0 {
			p.put(" ")
		}
		p.put(w.shown())
	}
}

// inner writes a list one level deeper.
func (p *printer) inner(l *List) {
	p.indent += 4
	p.list(l)
	p.heredocs("")
	p.semicolon()
	p.indent -= 4
}

func (p *printer) body(c *Command) {
	switch b := c.Body.(type) {
	case *Subshell:
		p.put("( ")
		p.skip = true
		p.list(b.List)
		p.heredocs("")
		p.put(" )")
	case *Group:
		p.group(b.List)
	case *If:
		p.ifClause(b, 0)
	case *Loop:
		word := "while "
		if b.Until {
			word = "until "
		}
		p.put(word)
		p.skip = true
		p.list(b.Cond)
		p.heredocs("")
		p.semicolon()
		p.put(" do\n")
		p.inner(b.Body)
		p.newline("done")
	case *For:
		p.forClause(b)
	case *CFor:
		p.put("for ((" + arithText(b.Init) + "; " + arithText(b.Cond) + "; " + arithText(b.Post) + "))")
		p.newline("do\n")
		p.inner(b.Body)
		p.newline("done")
	case *Case:
		p.caseClause(b)
	case *ArithCmd:
		p.put("((" + b.X.Lead + b.X.Text + b.X.Tail + "))")
	case *CondCmd:
		p.put("[[ ")
		p.cond(b.X)
		p.put(" ]]")
	case *Coproc:
		p.put("coproc " + b.Name + " ")
		p.skip = true
		p.command(b.Cmd)
	}
}

func arithText(a *Arith) string {
	if a == nil {
		return "1"
	}
	return a.Text + a.Tail
}

func (p *printer) group(l *List) {
	p.put("{ ")
	if p.inFunc == 0 {
		p.skip = true
		p.list(l)
		p.heredocs("")
		p.semicolon()
		p.put(" }")
		return
	}
	p.put("\n")
	p.indent += 4
	p.list(l)
	p.heredocs("")
	p.put("\n")
	p.indent -= 4
	p.put(strings.Repeat(" ", p.indent) + "}")
}

func (p *printer) ifClause(n *If, i int) {
	p.put("if ")
	p.skip = true
	p.list(n.Conds[i])
	p.heredocs("")
	p.semicolon()
	p.put(" then\n")
	p.inner(n.Thens[i])
	switch {
	case i+1 < len(n.Conds):
		p.newline("else\n")
		p.indent += 4
		p.pad()
		p.ifClause(n, i+1)
		p.semicolon()
		p.indent -= 4
	case n.Else != nil:
		p.newline("else\n")
		p.inner(n.Else)
	}
	p.newline("fi")
}

func (p *printer) forClause(n *For) {
	word := "for "
	if n.Select {
		word = "select "
	}
	p.put(word + n.Name + " in ")
	if n.In {
		p.words(n.Words)
	} else {
		p.put(`"$@"`)
	}
	p.put(";")
	p.newline("do\n")
	p.inner(n.Body)
	p.newline("done")
}

func (p *printer) caseClause(n *Case) {
	p.put("case " + n.Word.shown() + " in ")
	p.indent += 4
	for _, c := range n.Clauses {
		p.newline("")
		for i, w := range c.Patterns {
			if i > 0 {
				p.put(" | ")
			}
			p.put(w.shown())
		}
		p.put(")\n")
		p.indent += 4
		if len(c.Body.Items) > 0 {
			p.list(c.Body)
			p.heredocs("")
			p.wasHere = false
		}
		p.indent -= 4
		end := c.End
		if end == "esac" {
			end = ";;"
		}
		p.newline(end)
	}
	p.indent -= 4
	p.newline("esac")
}

func (p *printer) cond(x Cond) {
	switch x := x.(type) {
	case *CondWord:
		p.put("-n " + x.X.shown())
	case *CondUnary:
		p.put(x.Op + " " + x.X.shown())
	case *CondBinary:
		p.put(x.X.shown() + " " + x.Op + " " + x.Y.shown())
	case *CondNot:
		p.put("! ")
		p.cond(x.X)
	case *CondLogic:
		p.cond(x.X)
		if x.Or {
			p.put(" || ")
		} else {
			p.put(" && ")
		}
		p.cond(x.Y)
	case *CondGroup:
		p.put("( ")
		p.cond(x.X)
		p.put(" )")
	}
}

// function writes a definition.
func (p *printer) function(f *FuncDecl, prefix string) {
	p.put(prefix + f.Name + " () \n")
	p.put(strings.Repeat(" ", p.indent))
	p.inFunc++
	if g, ok := f.Body.Body.(*Group); ok {
		p.group(g.List)
	} else {
		p.put("{ \n")
		p.indent += 4
		p.pad()
		p.body(f.Body)
		p.indent -= 4
		p.put("\n" + strings.Repeat(" ", p.indent) + "}")
	}
	if len(f.Body.Redirs) > 0 {
		p.put(" ")
		p.redirs(f.Body.Redirs)
	}
	p.inFunc--
}

func (p *printer) redirs(list []*Redir) {
	for i, r := range list {
		if i > 0 {
			p.put(" ")
		}
		p.put(p.redir(r))
	}
}

// redir writes one redirection; the body of a here-document comes at the end of the line.
func (p *printer) redir(r *Redir) string {
	fd := ""
	if r.Fd >= 0 {
		fd = strconv.Itoa(r.Fd)
	}
	if r.Var != "" {
		fd = "{" + r.Var + "}"
	}
	switch r.Op {
	case "<<", "<<-":
		p.pending = append(p.pending, r)
		delim := r.Delim
		if r.Quoted {
			delim = "'" + strings.ReplaceAll(delim, "'", `'\''`) + "'"
		}
		if fd == "0" {
			fd = ""
		}
		if strings.HasPrefix(delim, "-") {
			delim = " " + delim
		}
		return fd + r.Op + delim
	case "<&", ">&":
		if fd == "" && isNumber(r.Target.Text) {
			fd = "1"
			if r.Op == "<&" {
				fd = "0"
			}
		}
		if r.Target.Text == "-" { // Closing is written in one way.
			return fd + ">&-"
		}
		return fd + r.Op + r.Target.shown()
	case ">", ">>", ">|":
		if fd == "1" {
			fd = ""
		}
	case "<", "<>", "<<<":
		if fd == "0" {
			fd = ""
		}
	}
	return fd + r.Op + " " + r.Target.shown()
}

func isNumber(s string) bool {
	if s == "-" {
		return true
	}
	s = strings.TrimSuffix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// shown is the word as bash remembers it.
func (w *Word) shown() string {
	if w.Shown != "" {
		return w.Shown
	}
	return w.Text
}
