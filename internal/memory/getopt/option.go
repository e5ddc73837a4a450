package getopt

// Arg says whether an option takes an argument.
type Arg uint8

const (
	// None is an option without an argument.
	None Arg = iota
	// Required is an option that must have one: "-n5", "-n 5", "--lines=5", "--lines 5".
	Required
	// Optional is an option whose argument has to be attached: "-n5", "--lines=5".
	Optional
)

// Option is one option of a command. A long option with several names is several
// entries with one ID.
type Option struct {
	// Short is the letter, 0 for none.
	Short byte
	// Long is the name without dashes, empty for none.
	Long string
	Arg  Arg
	// ID is the value that Parser.ID reports; 0 stands for Short. Options without a letter
	// take numbers from First on.
	ID int
}

// WithDigits returns the options, and after them one for each digit with no long name, whose argument is as arg says.
func WithDigits(arg Arg, options []Option) []Option {
	for digit := byte('0'); digit <= '9'; digit++ {
		options = append(options, Option{Short: digit, Arg: arg})
	}
	return options
}

func (o *Option) id() int {
	if o.ID != 0 {
		return o.ID
	}
	return int(o.Short)
}

// IDs that every table shares.
const (
	// Operand is reported for an operand when the order is InOrder.
	Operand = 1
	// Help and Version are reported for --help and --version, which every table
	// has unless Parser.Bare is set or it has options of those names itself.
	Help    = 1<<16 + 1
	Version = 1<<16 + 2
	// First is the first number for a command's own options without a letter.
	First = 256
)

// Order says how operands before options are treated.
type Order uint8

const (
	// Permute takes options in any position, up to "--".
	Permute Order = iota
	// RequireOrder ends the options at the first operand, as POSIX wants and as
	// commands do that run another command.
	RequireOrder
	// InOrder reports operands among the options, in their place.
	InOrder
)
