package interpreter

// expr is a node of a program's tree.
type expr any

type (
	identity struct{} // .
	recurse  struct{} // ..
	literal  struct{ v Value }
	// text is a string with interpolations: parts are string or expr.
	text struct {
		format string // with @, "" for none
		parts  []expr
	}
	format struct{ name string }
	// index is t[i]; target nil stands for . in a pattern.
	index  struct{ target, at expr }
	slice  struct{ target, from, to expr } // from or to may be nil
	iter   struct{ target expr }
	try    struct{ body, handler expr } // handler nil: errors are passed over
	list   struct{ of expr }            // [of]; of nil: []
	object struct{ entries []entry }
	negate struct{ of expr }
	pipe   struct{ l, r expr }
	comma  struct{ l, r expr }
	binary struct {
		op   string // + - * / % == != < <= > >= and or //
		l, r expr
	}
	assign struct {
		op   string // = |= += -= *= /= %= //=
		l, r expr
	}
	branch struct{ cond, then, other expr } // other nil: .
	reduce struct {
		source       expr
		patterns     []*pattern
		init, update expr
	}
	foreach struct {
		source                expr
		patterns              []*pattern
		init, update, extract expr // extract may be nil
	}
	call struct {
		name string
		args []expr
		pos  int
	}
	variable struct {
		name string
		pos  int
	}
	bind struct {
		source   expr
		patterns []*pattern // more than one: alternatives
		body     expr
	}
	define struct {
		def  *function
		body expr
	}
	label struct {
		name string
		body expr
	}
	breakTo struct {
		name string
		pos  int
	}
	location struct{ line int }
)

// entry is "key: value" of an object; value nil stands for the input's value of the key.
type entry struct {
	key, value expr
	variable   string // for {$x}
}

// pattern is a destructuring pattern.
type pattern struct {
	name    string // $name
	array   []*pattern
	object  []patternEntry
	isArray bool
}

// patternEntry is "key: pattern"; bound also binds the value of a "$name" key.
type patternEntry struct {
	key   expr
	bound string
	value *pattern // may be nil with bound
}

// function is a definition.
type function struct {
	name   string
	params []string // with $ for values
	body   expr
}

// module is a parsed file.
type module struct {
	meta    Value
	imports []importing
	defs    []*function
	body    expr // nil: only definitions
}

type importing struct {
	path    string
	name    string // "" for include
	isData  bool
	meta    *Object
	include bool
}
