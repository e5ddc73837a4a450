// Package syntax reads the bash language into a tree, one complete command at a
// time, so that a command's changes (aliases, extglob) apply to the next line.
package syntax

// List is a sequence of commands.
type List struct {
	Items []*Item
}

// Item is an and-or list with its end.
type Item struct {
	First      *Pipeline
	Rest       []AndOr
	Background bool // ended by &
	Line       int
}

// AndOr is a pipeline after && or ||.
type AndOr struct {
	Or   bool
	Pipe *Pipeline
}

// Pipeline is one or more commands joined by |.
type Pipeline struct {
	Bang      bool
	Time      bool
	TimePosix bool
	Cmds      []*Command // empty for a lone "!" or "time"
	Line      int
}

// Command is one command with its redirections.
type Command struct {
	Body   Node // *Simple, *Subshell, *Group, *If, ...
	Redirs []*Redir
	Line   int
	Stderr bool // followed by |&
}

// Node is the body of a command.
type Node interface{ node() }

type (
	// Simple is assignments, a name and arguments.
	Simple struct {
		Assigns []*Assign
		Words   []*Word
		Decl    bool // the name is that of a builtin that takes assignments
	}
	// Subshell is ( list ).
	Subshell struct{ List *List }
	// Group is { list; }.
	Group struct{ List *List }
	// If is if, elif and else.
	If struct {
		Conds  []*List
		Thens  []*List
		Else   *List // nil: none
		CondAt []int
	}
	// Loop is while or until.
	Loop struct {
		Until bool
		Cond  *List
		Body  *List
	}
	// For is for and select over words.
	For struct {
		Name   string
		Select bool
		In     bool // false: over "$@"
		Words  []*Word
		Body   *List
	}
	// CFor is for (( ; ; )).
	CFor struct {
		Init, Cond, Post *Arith // nil: empty
		Body             *List
	}
	// Case is case.
	Case struct {
		Word    *Word
		Clauses []*Clause
	}
	// ArithCmd is (( )).
	ArithCmd struct{ X *Arith }
	// CondCmd is [[ ]].
	CondCmd struct{ X Cond }
	// FuncDecl defines a function.
	FuncDecl struct {
		Name    string
		Bad     bool // the name has quotes or expansions: it is an error to run this
		Keyword bool
		Body    *Command
		Nodes   int // of the body, about
		Levels  int // of constructs inside each other in the body
	}
	// Coproc is coproc.
	Coproc struct {
		Name string // "COPROC" when not given
		Cmd  *Command
	}
)

// Clause is one branch of case; End is ";;", ";&" or ";;&".
type Clause struct {
	Patterns []*Word
	Body     *List
	End      string
}

func (*Simple) node()   {}
func (*Subshell) node() {}
func (*Group) node()    {}
func (*If) node()       {}
func (*Loop) node()     {}
func (*For) node()      {}
func (*CFor) node()     {}
func (*Case) node()     {}
func (*ArithCmd) node() {}
func (*CondCmd) node()  {}
func (*FuncDecl) node() {}
func (*Coproc) node()   {}

// Cond is an expression of [[ ]].
type Cond interface{ cond() }

type (
	// CondWord is a word alone: true when not empty.
	CondWord struct{ X *Word }
	// CondUnary is -f X and its like.
	CondUnary struct {
		Op string
		X  *Word
	}
	// CondBinary is X == Y and its like.
	CondBinary struct {
		Op   string
		X, Y *Word
	}
	// CondNot is ! X.
	CondNot struct{ X Cond }
	// CondLogic is X && Y or X || Y.
	CondLogic struct {
		Or   bool
		X, Y Cond
	}
	// CondGroup is ( X ).
	CondGroup struct{ X Cond }
)

func (*CondWord) cond()   {}
func (*CondUnary) cond()  {}
func (*CondBinary) cond() {}
func (*CondNot) cond()    {}
func (*CondLogic) cond()  {}
func (*CondGroup) cond()  {}

// Assign is NAME=value, NAME+=value, NAME[i]=value or NAME=(...).
type Assign struct {
	Name   string
	Index  *Subscript
	Append bool
	Value  *Word // nil when Array
	Array  bool
	Elems  []*Elem
	Text   string // as written
	Shown  string // as bash remembers it; "": as written
}

// Elem is one element of an array literal.
type Elem struct {
	Index  *Subscript
	Append bool
	Value  *Word
}

// Subscript is the text in [ ]. The variable decides whether it is arithmetic or a key.
type Subscript struct {
	All  byte // '@' or '*' when that is all
	Text string
	X    *Word // its parts, under the rules of double quotes but with quotes
}

// Redir is one redirection.
type Redir struct {
	Op     string // "<", ">", ">>", ">|", "<>", "<&", ">&", "&>", "&>>", "<<", "<<-", "<<<"
	Fd     int    // -1: the operator's default
	Var    string // {name}
	Target *Word  // for here-documents the body
	Delim  string
	Quoted bool   // the delimiter was quoted
	Body   string // of a here-document, as written
	Line   int
}

// Word is one word as written.
type Word struct {
	Parts  []Part
	Text   string
	Shown  string // as bash remembers it: lines are joined, and $'...' has become '...'; "": as Text
	Line   int
	Assign *Assign // an argument of declare and its like that is an assignment
	Levels int     // of constructs inside each other, in the result of Text and QuotedText
}

// Part is a piece of a word.
type Part interface{ part() }

type (
	// Lit is text without quotes.
	Lit struct{ S string }
	// Quoted is text that single quotes, a backslash or $'' protect.
	Quoted struct{ S string }
	// DQ is "...".
	DQ struct{ Parts []Part }
	// Param is $x or ${x...}.
	Param struct {
		Name     string
		Index    *Subscript
		Indirect bool // ${!x}
		Length   bool // ${#x}
		Names    byte // ${!x@}: '@', ${!x*}: '*'
		Op       string
		Arg      *Word  // operand; pattern; offset
		Arg2     *Word  // replacement; length of a slice; nil: not given
		Bad      bool   // no such syntax: an error when it is expanded
		Text     string // as written
		Quoted   bool   // it is in double quotes
	}
	// CmdSub is $(...) or `...`.
	CmdSub struct {
		List  *List  // nil: Text is parsed when it is expanded
		Text  string // the inside
		Line  int
		Quote bool // written with backquotes
	}
	// ArithSub is $((...)).
	ArithSub struct{ X *Arith }
	// Pattern is an extended pattern such as @(a|b): the text of Lit parts is taken literally.
	Pattern struct{ Parts []Part }
	// ProcSub is <(...) or >(...).
	ProcSub struct {
		Out  bool // >(
		List *List
		Text string
	}
)

// Arith is an arithmetic expression: text with expansions in it.
type Arith struct {
	Lead string // the blanks before it
	Text string
	Tail string // and behind it
	X    *Word
	Line int
}

func (*Lit) part()      {}
func (*Quoted) part()   {}
func (*DQ) part()       {}
func (*Param) part()    {}
func (*CmdSub) part()   {}
func (*ArithSub) part() {}
func (*Pattern) part()  {}
func (*ProcSub) part()  {}

// Literal returns the word's text when it is written without any quote or expansion.
func (w *Word) Literal() (string, bool) {
	if w == nil || len(w.Parts) != 1 {
		return "", false
	}
	l, ok := w.Parts[0].(*Lit)
	if !ok {
		return "", false
	}
	return l.S, true
}
