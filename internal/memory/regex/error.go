package regex

// Error is a wrong expression.
type Error struct {
	// Text is the message of regerror(3).
	Text string
	// Offset is the position in the expression up to which it was read, in bytes.
	Offset int
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// The texts of the GNU C library.
const (
	errPattern  = "Invalid regular expression"
	errCollate  = "Invalid collation character"
	errCtype    = "Invalid character class name"
	errEscape   = "Trailing backslash"
	errSubreg   = "Invalid back reference"
	errBracket  = "Unmatched [, [^, [:, [., or [="
	errParen    = `Unmatched ( or \(`
	errBrace    = `Unmatched \{`
	errBadBrace = `Invalid content of \{\}`
	errRange    = "Invalid range end"
	errRepeat   = "Invalid preceding regular expression"
	errSize     = "Regular expression too big"
	errRParen   = `Unmatched ) or \)`
)
