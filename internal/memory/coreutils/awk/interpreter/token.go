package interpreter

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenNewline
	tokenNumber
	tokenString
	tokenRegex
	tokenName
	tokenCall    // a name with a parenthesis right behind it
	tokenBuiltin // a function of the language
	tokenKeyword
	tokenPunct
)

// token is a word of a program. Text is its value: for strings without quotes and escapes.
type token struct {
	kind   tokenKind
	text   string
	number float64
	pos    int
}

func (t token) is(text string) bool {
	return (t.kind == tokenPunct || t.kind == tokenKeyword) && t.text == text
}

// isKeyword reports whether a name is a word of the language.
func isKeyword(name string) bool {
	switch name {
	case "BEGIN", "END", "BEGINFILE", "ENDFILE", "function", "func", "if", "else", "while", "for", "do",
		"break", "continue", "next", "nextfile", "exit", "return", "delete", "in", "getline", "print",
		"printf", "switch", "case", "default":
		return true
	}
	return false
}

// arity is the least and the largest number of arguments of a function.
type arity struct{ least, most int }

// builtinArity returns the arity of a function of the language.
func builtinArity(name string) (arity, bool) {
	switch name {
	case "length":
		return arity{0, 1}, true
	case "cos", "sin", "exp", "log", "sqrt", "int", "tolower", "toupper", "system", "compl", "strtonum", "isarray", "typeof":
		return arity{1, 1}, true
	case "atan2", "index", "lshift", "rshift":
		return arity{2, 2}, true
	case "and", "or", "xor":
		return arity{2, 1 << 20}, true
	case "sprintf":
		return arity{1, 1 << 20}, true
	case "rand", "systime":
		return arity{0, 0}, true
	case "srand", "fflush":
		return arity{0, 1}, true
	case "substr", "match", "sub", "gsub":
		return arity{2, 3}, true
	case "split", "patsplit":
		return arity{2, 4}, true
	case "gensub":
		return arity{3, 4}, true
	case "close", "mktime":
		return arity{1, 2}, true
	case "strftime":
		return arity{0, 3}, true
	case "asort", "asorti":
		return arity{1, 3}, true
	}
	return arity{}, false
}
