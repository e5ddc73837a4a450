// Package coreutils holds the programs of a virtual machine: those of GNU coreutils,
// grep, sed and what stands beside them on every system. They see only the process
// that they are given (shell.Proc): its arguments, streams and file system. Options,
// messages and exit statuses are GNU's; an option that is not known is an error.
//
// A command is a function that returns its description, one line in Commands, and a
// run function:
//
//	func catCommand() description {
//		return description{Name: "cat", Usage: "[OPTION]... [FILE]...", Summary: "...", Help: "...", Run: runCat}
//	}
//
//	func runCat(p *shell.Proc) int {
//		o := newOptions(p, catCommand, catOptions) // a package variable: []getopt.Option
//		for o.Next() {
//			switch o.ID {
//			case 'n':
//				number = true
//			}
//		}
//		if o.Ended() { // after --help, --version, or a wrong option, which are answered
//			return o.Status
//		}
//		for _, name := range o.Args() { ...
//
// What a command writes goes through newOutput, what it reads through openInput; both know
// the conventions ("-", a pipe that nobody reads).
package coreutils
