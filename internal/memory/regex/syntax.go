package regex

// syntax are the choices among POSIX expressions; the names are those of the
// GNU C library's RE_ bits.
type syntax uint32

const (
	bkPlusQm            syntax = 1 << iota // \+ and \? repeat, + and ? are themselves
	contextIndepAnchors                    // ^ and $ are anchors everywhere
	contextIndepOps                        // * at the beginning is not a character
	contextInvalidOps                      // and an error
	contextInvalidDup                      // \{ at the beginning is an error, and ** too
	noBkBraces
	noBkParens
	noBkVbar
	unmatchedRParenOrd // a ) too many is itself
	invalidIntervalOrd // a { that begins no interval is itself
	noIntervals
	noEmptyRanges
	caretAnchorsHere // for the token after ( and |
	repeatAnchors    // ^* repeats the anchor, as in grep
	looseHyphens     // [a-c-e] is not an error, as in grep
)

// syntaxOf returns the choices of a POSIX syntax.
func syntaxOf(f Flags) syntax {
	switch {
	case f&Emacs != 0:
		return noIntervals
	case f&Extended != 0 && f&Grep != 0:
		return contextIndepAnchors | contextIndepOps | noBkBraces | noBkParens | noBkVbar | invalidIntervalOrd |
			unmatchedRParenOrd | noEmptyRanges | repeatAnchors
	case f&Extended != 0 && f&Sed != 0:
		return contextIndepAnchors | contextIndepOps | contextInvalidOps | noBkBraces | noBkParens | noBkVbar | noEmptyRanges
	case f&Extended != 0:
		return contextIndepAnchors | contextIndepOps | contextInvalidOps | noBkBraces | noBkParens | noBkVbar |
			unmatchedRParenOrd | noEmptyRanges
	case f&Grep != 0:
		return bkPlusQm | noEmptyRanges
	case f&Expr != 0:
		return bkPlusQm
	default:
		return bkPlusQm | contextInvalidDup | noEmptyRanges
	}
}

// token is a token of an expression.
type token uint8

const (
	tokenEnd token = iota
	tokenChar
	tokenStar
	tokenPlus
	tokenQuestion
	tokenOpenBrace
	tokenCloseBrace
	tokenAlt
	tokenOpen
	tokenClose
	tokenBracket
	tokenDot
	tokenAnchor
	tokenBack
	tokenClass // \w and the like
	tokenBackslash
)

// lexeme is a token with its value.
type lexeme struct {
	token token
	r     rune // the character, the letter of a class, the number of a back-reference
	as    assertion
	width int // in bytes
}

var escapedAnchors = map[byte]assertion{
	'<': wordStart, '>': wordEnd, 'b': wordEdge, 'B': notWordEdge, '`': textStart, '\'': textEnd,
}

// peek reads the token at pos without going on.
func (p *parser) peek(syn syntax) lexeme {
	if p.pos >= len(p.src) {
		return lexeme{token: tokenEnd}
	}
	c := p.src[p.pos]
	if c == '\\' {
		return p.peekEscape(syn)
	}
	r, width := p.char(p.pos)
	l := lexeme{token: tokenChar, r: r, width: width}
	switch c {
	case '|':
		l.when(syn&noBkVbar != 0, tokenAlt)
	case '*':
		l.token = tokenStar
	case '+':
		l.when(syn&bkPlusQm == 0, tokenPlus)
	case '?':
		l.when(syn&bkPlusQm == 0, tokenQuestion)
	case '{':
		l.when(syn&noBkBraces != 0, tokenOpenBrace)
	case '}':
		l.when(syn&noBkBraces != 0, tokenCloseBrace)
	case '(':
		l.when(syn&noBkParens != 0, tokenOpen)
	case ')':
		l.when(syn&noBkParens != 0, tokenClose)
	case '[':
		l.token = tokenBracket
	case '.':
		l.token = tokenDot
	case '^':
		l.when(syn&(contextIndepAnchors|caretAnchorsHere) != 0 || p.pos == 0, tokenAnchor)
		l.as = lineStart
	case '$':
		l.when(syn&contextIndepAnchors != 0 || p.dollarEnds(syn), tokenAnchor)
		l.as = lineEnd
	}
	return l
}

func (l *lexeme) when(special bool, t token) {
	if special {
		l.token = t
	}
}

// dollarEnds reports whether the $ at pos is at the end of something.
func (p *parser) dollarEnds(syn syntax) bool {
	if p.pos+1 == len(p.src) {
		return true
	}
	p.pos++
	next := p.peek(syn &^ caretAnchorsHere).token
	p.pos--
	return next == tokenAlt || next == tokenClose
}

func (p *parser) peekEscape(syn syntax) lexeme {
	if p.pos+1 >= len(p.src) {
		return lexeme{token: tokenBackslash, width: 1}
	}
	c := p.src[p.pos+1]
	r, width := p.char(p.pos + 1)
	l := lexeme{token: tokenChar, r: r, width: 1 + width}
	if a, ok := escapedAnchors[c]; ok {
		l.token, l.as = tokenAnchor, a
		return l
	}
	switch c {
	case '|':
		l.when(syn&noBkVbar == 0, tokenAlt)
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		l.token, l.r = tokenBack, rune(c-'0')
	case 'w', 'W', 's', 'S':
		l.token = tokenClass
	case '(':
		l.when(syn&noBkParens == 0, tokenOpen)
	case ')':
		l.when(syn&noBkParens == 0, tokenClose)
	case '+':
		l.when(syn&bkPlusQm != 0, tokenPlus)
	case '?':
		l.when(syn&bkPlusQm != 0, tokenQuestion)
	case '{':
		l.when(syn&(noIntervals|noBkBraces) == 0, tokenOpenBrace)
	case '}':
		l.when(syn&(noIntervals|noBkBraces) == 0, tokenCloseBrace)
	}
	return l
}
