// Package program starts the programs that lie beside this one.
package program

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Become goes on as a program that is built of the same code with more linked to it, and lies beside this one. It begins
// anew, so nothing may have been started yet. It returns only when that is not there.
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
