// Package program starts the programs that lie beside this one.
package program

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Become replaces this process by a program that is built from the same code with more linked to it, in the directory of
// this one. The program parses the arguments again, so nothing may have been started yet. Become returns only when the
// program cannot be executed.
func Become(program string) error {
	beside, err := Beside(program)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", beside, syscall.Exec(beside, os.Args, os.Environ()))
}

// Beside returns the path that a program has in the directory of this one. It does not look whether it exists.
func Beside(program string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find the directory of this program: %w", err)
	}
	return filepath.Join(filepath.Dir(self), program), nil
}
