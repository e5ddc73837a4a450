//go:build !kube || !agent

package program

import "os"

// Require returns the error of an operation that needs a program: a [Required] if it is in the same directory, and otherwise
// an Unavailable error. what begins the sentence, such as "docker: containers". It returns nil for "", this program.
func Require(program, what string) error {
	if program == "" {
		return nil
	}
	path, err := Beside(program)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return missingError(what, program, err)
	}
	return &Required{Program: program}
}
