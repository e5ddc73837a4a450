package getopt

import (
	"slices"
	"strings"
)

// Parser walks over a command's arguments:
//
//	o := getopt.New(args, table)
//	for o.Next() {
//		switch o.ID {
//		case 'n':
//			lines = o.Value
//		}
//	}
//	if o.Err != nil { ... }
//	files := o.Args()
//
// Order and Bare may be set before the first Next.
type Parser struct {
	// Order says where options may be; the zero value is Permute.
	Order Order
	// Bare leaves out --help and --version.
	Bare bool

	// ID is the option that the last Next found.
	ID int
	// Value is its argument; HasValue distinguishes an empty one from none.
	Value    string
	HasValue bool
	// Long is its full long name if it was given by a long name, else empty.
	Long string
	// Index is the place in args of the word that holds the option.
	Index int
	// Err is set when Next returned false because of a wrong option. It is an *Error.
	Err error

	options  []Option
	args     []string
	read     int // words taken from args
	operands []string
	bundle   string // what is left of "-abc"
}

// New returns a parser over args, whose first element is the command's name and is
// skipped. Neither slice is changed.
func New(args []string, options []Option) *Parser {
	p := &Parser{options: options}
	if len(args) > 0 {
		p.args, p.read = args[1:], 1
	}
	return p
}

// take takes the next word.
func (p *Parser) take() string {
	word := p.args[0]
	p.args = p.args[1:]
	p.read++
	return word
}

// Next goes to the next option. It returns false at the end and at a wrong option;
// Err tells which. It may be called again after an error, to go on behind it.
func (p *Parser) Next() bool {
	p.ID, p.Value, p.HasValue, p.Long, p.Err = 0, "", false, "", nil
	if p.bundle != "" {
		return p.short()
	}
	for len(p.args) > 0 {
		arg := p.args[0]
		switch {
		case arg == "--":
			p.operands = append(p.operands, p.args[1:]...)
			p.args = nil
			return false
		case len(arg) > 2 && arg[:2] == "--":
			p.Index = p.read
			p.take()
			return p.long(arg[2:])
		case len(arg) > 1 && arg[0] == '-':
			p.Index = p.read
			p.take()
			p.bundle = arg[1:]
			return p.short()
		case p.Order == RequireOrder:
			p.operands = append(p.operands, p.args...)
			p.args = nil
			return false
		case p.Order == InOrder:
			p.Index = p.read
			p.take()
			p.ID, p.Value, p.HasValue = Operand, arg, true
			return true
		}
		p.operands = append(p.operands, p.take())
	}
	return false
}

// Args returns the operands found so far and, when Next has not come to the end, all
// that has not been read.
func (p *Parser) Args() []string {
	if len(p.args) == 0 {
		return p.operands
	}
	return append(slices.Clip(p.operands), p.args...)
}

func (p *Parser) short() bool {
	letter := p.bundle[0]
	p.bundle = p.bundle[1:]
	o := p.byLetter(letter)
	if o == nil {
		return p.fail(InvalidLetter, string(letter), nil)
	}
	p.ID = o.id()
	if o.Arg == None {
		return true
	}
	if p.bundle != "" {
		p.Value, p.HasValue, p.bundle = p.bundle, true, ""
		return true
	}
	if o.Arg == Optional {
		return true
	}
	if len(p.args) == 0 {
		return p.fail(LetterNeedsValue, string(letter), nil)
	}
	p.Value, p.HasValue = p.take(), true
	return true
}

func (p *Parser) byLetter(letter byte) *Option {
	if letter == 0 {
		return nil
	}
	for i := range p.options {
		if p.options[i].Short == letter {
			return &p.options[i]
		}
	}
	return nil
}

func (p *Parser) long(arg string) bool {
	name, value, attached := strings.Cut(arg, "=")
	o, similar := p.byName(name)
	switch {
	case similar != nil:
		return p.fail(Ambiguous, arg, similar)
	case o == nil:
		return p.fail(Unrecognized, arg, nil)
	}
	p.ID, p.Long = o.id(), o.Long
	switch {
	case attached && o.Arg == None:
		return p.fail(NoValueAllowed, o.Long, nil)
	case attached:
		p.Value, p.HasValue = value, true
	case o.Arg == Required && len(p.args) == 0:
		return p.fail(NeedsValue, o.Long, nil)
	case o.Arg == Required:
		p.Value, p.HasValue = p.take(), true
	}
	return true
}

var helpOption, versionOption = Option{Long: "help", ID: Help}, Option{Long: "version", ID: Version}

// byName finds the option of that name or the only one that begins with it; several
// that mean the same are one.
func (p *Parser) byName(name string) (found *Option, similar []string) {
	ambiguous := false
	look := func(o *Option) (exact bool) {
		switch {
		case o.Long == "" || !strings.HasPrefix(o.Long, name):
			return false
		case o.Long == name:
			found = o
			return true
		case found == nil:
			found = o
		case found.id() != o.id() || found.Arg != o.Arg:
			ambiguous = true
		}
		similar = append(similar, o.Long)
		return false
	}
	for i := range p.options {
		if look(&p.options[i]) {
			return found, nil
		}
	}
	if !p.Bare && !p.has(Help) && look(&helpOption) || !p.Bare && !p.has(Version) && look(&versionOption) {
		return found, nil
	}
	if !ambiguous {
		return found, nil
	}
	return nil, similar
}

// has reports whether the table itself has a long option of that ID.
func (p *Parser) has(id int) bool {
	for i := range p.options {
		if p.options[i].ID == id && p.options[i].Long != "" {
			return true
		}
	}
	return false
}

func (p *Parser) fail(kind Kind, name string, similar []string) bool {
	p.Err = &Error{Kind: kind, Option: name, Similar: similar}
	return false
}
