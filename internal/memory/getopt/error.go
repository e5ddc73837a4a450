package getopt

import "strings"

// Kind is the kind of an error in an option.
type Kind uint8

// The kinds, in the order of getopt_long(3)'s messages.
const (
	Unrecognized     Kind = iota // a long option that is not in the table
	Ambiguous                    // an abbreviation of several
	NoValueAllowed               // --option=value of one that takes none
	NeedsValue                   // a long option without its argument
	InvalidLetter                // a letter that is not in the table
	LetterNeedsValue             // a letter without its argument
)

// Error is a wrong option. Its text is the C library's, without the command's name.
type Error struct {
	Kind Kind
	// Option is the letter, or the long name without its dashes.
	Option string
	// Similar are the long names that an ambiguous one may stand for.
	Similar []string
}

// Error returns the text, such as "invalid option -- 'y'".
func (e *Error) Error() string {
	switch e.Kind {
	case Ambiguous:
		return "option '--" + e.Option + "' is ambiguous; possibilities: '--" + strings.Join(e.Similar, "' '--") + "'"
	case NoValueAllowed:
		return "option '--" + e.Option + "' doesn't allow an argument"
	case NeedsValue:
		return "option '--" + e.Option + "' requires an argument"
	case InvalidLetter:
		return "invalid option -- '" + e.Option + "'"
	case LetterNeedsValue:
		return "option requires an argument -- '" + e.Option + "'"
	default:
		return "unrecognized option '--" + e.Option + "'"
	}
}
