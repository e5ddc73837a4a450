package interpreter

// node is an expression.
type node any

type (
	numberNode struct{ v float64 }
	textNode   struct{ s string }
	regexNode  struct {
		src string
		pos int
	}
	// nameNode is a variable, an array, or the name of a function where one is asked for.
	nameNode struct {
		name string
		pos  int
		sym  *symbol
	}
	// indexNode is array[subs], where array is a nameNode or an indexNode.
	indexNode struct {
		array node
		subs  []node
		pos   int
	}
	fieldNode struct {
		n   node
		pos int
	}
	groupNode struct{ x node }
	listNode  struct{ list []node } // (a, b), before "in"
	unaryNode struct {
		op string
		x  node
	}
	binaryNode struct {
		op   string
		x, y node
		pos  int
	}
	condNode struct{ cond, yes, no node }
	// assignNode is lhs = rhs; op is "" or the operator before "=".
	assignNode struct {
		op       string
		lhs, rhs node
		pos      int
	}
	// stepNode is ++ or --.
	stepNode struct {
		x      node
		by     float64
		prefix bool
	}
	matchNode struct {
		neg  bool
		x, y node
	}
	inNode struct {
		subs  []node
		array node
	}
	callNode struct {
		name string
		args []node
		pos  int
		fn   *function
	}
	builtinNode struct {
		name string
		args []node
		pos  int
	}
	// getlineNode reads a record; kind is 0 for the main input, '<' for a file, '|' for a
	// command and '&' for a command that is also written to.
	getlineNode struct {
		kind   byte
		target node // nil: $0
		source node
		pos    int
	}
)

// statement is a statement.
type statement any

type (
	exprStmt  struct{ x node }
	printStmt struct {
		args   []node
		printf bool
		kind   byte // of redirection: 0, '>', 'a' for append, '|', '&'
		dest   node
		pos    int
	}
	blockStmt struct{ list []statement }
	ifStmt    struct {
		cond    node
		yes, no statement
	}
	whileStmt struct {
		cond node
		body statement
		post bool // do ... while
	}
	forStmt struct {
		init statement
		cond node
		step statement
		body statement
	}
	forInStmt struct {
		v, array node
		body     statement
		pos      int
	}
	switchStmt struct {
		x     node
		cases []switchCase
	}
	// jumpStmt is break, continue, next or nextfile.
	jumpStmt struct {
		to  ctl
		pos int
	}
	exitStmt   struct{ x node }
	returnStmt struct{ x node }
	deleteStmt struct {
		array node
		subs  []node // nil: all
	}
)

// switchCase is a case of a switch; both are nil for default.
type switchCase struct {
	value node
	body  []statement
}

// rule is a pattern with its action.
type rule struct {
	kind     string // "", BEGIN, END, BEGINFILE, ENDFILE
	from, to node   // to: of a range
	body     statement
	noAction bool
}

// function is a function of the program.
type function struct {
	name   string
	params []*symbol
	body   statement
	pos    int

	scalars, arrays int // how many of each it has
	code            stmtCode
}

// symbol is a variable; resolution finds out whether it is a scalar or an array.
type symbol struct {
	name  string
	local bool
	isArr bool
	known bool // isArr is known
	slot  int
	links []*symbol // symbols of the same kind
	fn    *function // whose parameter it is
}

// program is a parsed program.
type program struct {
	rules   []*rule
	funcs   map[string]*function
	globals map[string]*symbol
	order   []*function
	sources []source
	text    string
}

// source is a piece of the program: from a file, or from the command line.
type source struct {
	name  string // "cmd. line" or the file
	begin int
}
