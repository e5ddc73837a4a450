package regex

// kind is the kind of a node of the tree.
type kind uint8

const (
	kindClass  kind = iota // one character of set
	kindConcat             // left, then right
	kindAlt                // left or right
	kindRepeat             // left, min to max times
	kindGroup              // left, remembered as group n
	kindAssert             // nothing, where assertion n holds
	kindBack               // what group n matched
	kindLook               // nothing, where left matches (or does not) ahead or behind
	kindAtomic             // left, and no second thoughts
	kindKeep               // nothing; the match begins here
	kindCond               // left when group n has matched, else right
	kindFail               // never
)

// node is a part of an expression. A nil node is the empty one.
type node struct {
	kind        kind
	left, right *node
	set         *set
	n           int
	min, max    int  // max -1: no limit
	lazy        bool // Perl: few times rather than many
	possessive  bool // Perl: as often as possible, and no second thoughts
	behind      bool
	negative    bool
	fold        bool // a back-reference that ignores case
}

// assertion is a condition on a position between two characters.
type assertion int

const (
	lineStart     assertion = iota // ^
	lineEnd                        // $
	textStart                      // \`
	textEnd                        // \'
	lastLineEnd                    // Perl's \Z: the end, or before a newline there
	wordEdge                       // \b
	notWordEdge                    // \B
	wordStart                      // \<
	wordEnd                        // \>
	notWordBefore                  // for WholeWord
	notWordBehind
	searchStart // Perl's \G
)

// context describes a position; see assertion.holds.
type context uint8

const (
	afterText context = 1 << iota // nothing before
	afterLine                     // nothing or a line's end before
	afterWord
	beforeEnd // nothing behind
	beforeLineEnd
	beforeWord

	contextBefore = afterText | afterLine | afterWord
)

// holds reports whether the assertion is true in a context. Those that do not depend on a context (searchStart, lastLineEnd) are
// true here.
func (a assertion) holds(c context) bool {
	switch a {
	case lineStart:
		return c&afterLine != 0
	case lineEnd:
		return c&beforeLineEnd != 0
	case textStart:
		return c&afterText != 0
	case textEnd:
		return c&beforeEnd != 0
	case wordEdge:
		return c&afterWord != 0 != (c&beforeWord != 0)
	case notWordEdge:
		return c&afterWord != 0 == (c&beforeWord != 0)
	case wordStart:
		return c&afterWord == 0 && c&beforeWord != 0
	case wordEnd:
		return c&afterWord != 0 && c&beforeWord == 0
	case notWordBefore:
		return c&afterWord == 0
	case notWordBehind:
		return c&beforeWord == 0
	default:
		return true
	}
}

// needs returns the parts of a context that the assertion looks at.
func (a assertion) needs() context {
	switch a {
	case lineStart:
		return afterLine
	case lineEnd:
		return beforeLineEnd
	case textStart:
		return afterText
	case textEnd:
		return beforeEnd
	case wordEdge, notWordEdge, wordStart, wordEnd:
		return afterWord | beforeWord
	case notWordBefore:
		return afterWord
	case notWordBehind:
		return beforeWord
	default:
		return 0
	}
}

func concat(left, right *node) *node {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	}
	return &node{kind: kindConcat, left: left, right: right}
}
