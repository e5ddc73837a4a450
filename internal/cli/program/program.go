// Package program chooses among the programs that are built from the same code with different packages linked, and starts
// those in the same directory as this one. Users see one command: the default program, which isolates with bubblewrap, starts
// fast, because the packages of the others would add milliseconds to each start and megabytes to its file.
package program

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The programs and what they link beyond the default one.
const (
	Engines    = "agent-sandbox-kube"   // the backends docker and kube
	Memory     = "agent-sandbox-memory" // the backend virtual
	Everything = "agent-sandbox-agent"  // all backends, and the pipeline of assistants
)

// Required is the error of an operation that needs another program. Main of package cli executes that program, which
// parses the arguments again: an operation that returns it has not changed or printed anything.
type Required struct{ Program string }

func (r *Required) Error() string { return "this program lacks what " + r.Program + " has" }

func missingError(what, program string, err error) error {
	return sandbox.Errorf(sandbox.Unavailable, "%s need the program %s: %w", what, program, err).
		WithHint("install it beside this one: make install")
}

// RequiredBy returns the program that err asks for, or "".
func RequiredBy(err error) string {
	if r, ok := errors.AsType[*Required](err); ok {
		return r.Program
	}
	return ""
}

// Become replaces this process with a program in the same directory. It returns only if the program cannot be executed.
func Become(program string) error {
	path, err := Beside(program)
	if err == nil {
		err = &os.PathError{Op: "execute", Path: path, Err: syscall.Exec(path, os.Args, os.Environ())}
	}
	return missingError("these arguments", program, err)
}

// Beside returns the path of a program in the directory of this one. It does not check whether it exists.
func Beside(program string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find the directory of this program: %w", err)
	}
	return filepath.Join(filepath.Dir(self), program), nil
}
