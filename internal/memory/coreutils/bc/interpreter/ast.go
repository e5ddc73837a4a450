package interpreter

// node is an expression.
type node interface{ eval(m *machine) Number }

type (
	numberNode struct {
		text string
		base int // for which value is
		val  Number
	}
	// varNode is a variable, or with an index an element of an array.
	varNode struct {
		name  string
		index node
	}
	// ownNode is scale, ibase, obase or last.
	ownNode   struct{ name string }
	unaryNode struct {
		op byte
		x  node
	}
	binaryNode struct {
		op   string
		x, y node
	}
	assignNode struct {
		op     byte // 0: =
		target node
		x      node
	}
	stepNode struct {
		target node
		by     int64
		prefix bool
	}
	callNode struct {
		name string
		args []argument
	}
	builtinNode struct {
		name string
		x    node
	}
)

// wholeNode is the index of an array that is passed.
type wholeNode struct{}

// argument is one argument of a call: a value or an array.
type argument struct {
	x     node
	array string
}

// statement is a statement.
type statement interface{ exec(m *machine) flow }

// flow says how a statement has ended.
type flow uint8

const (
	flowGo flow = iota
	flowBreak
	flowContinue
	flowReturn
)

type (
	exprStmt struct {
		x     node
		shown bool
	}
	textStmt  struct{ s string }
	printStmt struct{ list []any } // string or node
	blockStmt struct{ list []statement }
	ifStmt    struct {
		cond    node
		yes, no statement
	}
	loopStmt struct {
		init, cond, step node
		body             statement
	}
	jumpStmt   struct{ to flow }
	returnStmt struct{ x node }
	haltStmt   struct{}
	limitsStmt struct{}
)

// function is a function of the program.
type function struct {
	name   string
	void   bool
	params []local
	autos  []local
	body   []statement
}

// local is a parameter or an auto variable.
type local struct {
	name      string
	array     bool
	reference bool
}
