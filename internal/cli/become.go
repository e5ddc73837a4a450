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
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("this program cannot find itself: %w", err)
	}
	beside := filepath.Join(filepath.Dir(self), program)
	return fmt.Errorf("%s: %w", beside, syscall.Exec(beside, os.Args, os.Environ()))
}
