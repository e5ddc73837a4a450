// Package program has what the programs of a machine in memory share: their description, their options,
// operands, messages, input and output.
//
// A program is a function that returns its Description, one line in the Commands of its package, and a run
// function:
//
//	func catCommand() program.Description {
//		return program.Description{Name: "cat", Usage: "[OPTION]... [FILE]...", Summary: "...", Help: "...", Run: runCat}
//	}
//
//	func runCat(p *shell.Proc) int {
//		o := program.NewOptions(p, catCommand, catOptions) // a package variable: []getopt.Option
//		for o.Next() {
//			switch o.ID {
//			case 'n':
//				number = true
//			}
//		}
//		if o.HasEnded() { // after --help, --version, or a wrong option, which are answered
//			return o.Status
//		}
//		for _, name := range o.Args() { ...
//
// What a program writes goes through NewOutput, what it reads through OpenInput; both know
// the conventions: "-", and a pipe without a reader.
package program
