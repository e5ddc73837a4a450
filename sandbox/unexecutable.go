package sandbox

import (
	"errors"
	"io/fs"
	"syscall"
)

// Unexecutable returns the error of all drivers for a program that cannot be executed, given the error of the look-up or of
// execve(2): fs.ErrNotExist, fs.ErrPermission, or EISDIR, ENOTDIR and ENOEXEC of package syscall. It has an [*ExecError]
// inside. For any other error, which is not about the program, the result is nil.
func Unexecutable(name string, err error) *Error {
	e := &ExecError{Name: name, Code: ExitNotExecutable}
	code := Denied
	switch {
	case errors.Is(err, syscall.EISDIR):
		e.Err = errors.New("is a directory")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		e.Code, e.Err, code = ExitNotFound, errors.New("not found in the sandbox"), NotFound
	case errors.Is(err, syscall.ENOEXEC):
		e.Err = errors.New("cannot be executed: a missing interpreter, or another machine's program")
	case errors.Is(err, fs.ErrPermission):
		e.Err = errors.New("not executable")
	default:
		return nil
	}
	return &Error{Code: code, Err: e}
}
