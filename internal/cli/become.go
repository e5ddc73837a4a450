package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// become goes on as a program that is built of the same code with more linked to it, and lies beside this one. It begins
// anew, so nothing may have been started yet. It returns only when that is not there.
func become(program string) error {
	beside, err := programBeside(program)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", beside, syscall.Exec(beside, os.Args, os.Environ()))
}

// programBeside returns the path that a program has in the directory of this one. It does not look whether it exists.
func programBeside(program string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find the directory of this program: %w", err)
	}
	return filepath.Join(filepath.Dir(self), program), nil
}
