package shell

// Command is a program that scripts can call: one of coreutils, or an extension.
// It stands in the machine as if it were a file in /usr/bin.
type Command struct {
	Name    string   // what it is called by; no slash
	Aliases []string // other names for the same program
	Usage   string   // operands as in "[OPTION]... [FILE]..."; without the name
	Summary string   // one line, lower case, no full stop
	Help    string   // the body of --help below usage and summary; may be empty

	// Run does the work and returns the exit status, of which the low 8 bits count.
	// It is called from several goroutines at once, each with its own Proc. It ends
	// when p.Context ends. What it leaves open the shell closes.
	Run func(p *Proc) int
}
