package sed

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
)

// sedKind is the kind of an address.
type sedKind uint8

const (
	sedLine     sedKind = iota // the line of that number
	sedStep                    // every step-th from number on
	sedLast                    // $
	sedRegex                   // what matches
	sedPlus                    // that many more lines
	sedMultiple                // up to a multiple of that
)

type sedAddress struct {
	kind   sedKind
	number int
	step   int
	re     *sedRegexp
}

// sedRange is the state of a command with two addresses.
type sedRange uint8

const (
	sedBefore sedRange = iota
	sedInside
	sedBehind // a first address that is a number cannot come again
)

// sedRegexp is a regular expression; an empty one stands for the last that was used.
type sedRegexp struct {
	*regex.Matcher
	compiled *regex.Regexp
	empty    bool
	source   string
	flags    regex.Flags
}

// sedInstruction is a command of the script.
type sedInstruction struct {
	name   byte
	not    bool
	a1, a2 *sedAddress
	state  sedRange
	end    int // of the range, when the second address is a number in some way

	text   []byte // of a, i, c; the command of e
	number int    // of q, Q, l; -1 for none
	label  string
	target int // where to go on
	file   string
	out    *sedOutput
	lines  *sedLines // of R
	subst  *sedSubstitution
	bytes  *[256]byte     // y
	runes  map[string]int // y with characters of several bytes: index into pairs
	pairs  []string
}

// sedSubstitution is an s command.
type sedSubstitution struct {
	re           *sedRegexp
	parts        []sedPart
	groups       int // the highest that the replacement names
	global       bool
	number       int // the first match that counts; 0 is 1
	print        bool
	printBefore  bool // before it is executed
	execute      bool
	out          *sedOutput
	literal      []byte // what is searched is this text
	replaceText  []byte // the replacement, if it is constant
	replaceFixed bool
}

// sedCase is the case conversion of a part of a replacement.
type sedCase uint8

const (
	caseAsIs  sedCase = 0
	caseUpper sedCase = 1
	caseLower sedCase = 2
	caseAll           = caseUpper | caseLower
	// For the first letter only.
	caseFirstUpper sedCase = 4
	caseFirstLower sedCase = 8
	caseFirst              = caseFirstUpper | caseFirstLower
)

// sedPart is text and then a group.
type sedPart struct {
	text  []byte
	group int // -1 for none
	fold  sedCase
}

// sedProgram is a script.
type sedProgram struct {
	list  []sedInstruction
	quiet bool // #n
}
