package process

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

var errNoInterpreter = errors.New("its interpreter does not exist")

// ExecCandidate executes the program file in place of this process. Its error distinguishes a missing file from
// a missing interpreter, for which execve(2) returns the same error.
func ExecCandidate(file string, args, env []string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err.(*fs.PathError).Err //nolint:errorlint,forcetypeassert // os.Stat documents the type
	}
	if info.IsDir() {
		return syscall.EISDIR
	}
	err = ExecFile(file, args, env)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoInterpreter
	}
	return err
}

// ExecFile is execve(2). Like execvp(3), it executes a text without #! with the shell.
func ExecFile(file string, args, env []string) error {
	err := syscall.Exec(file, args, env)
	if errors.Is(err, syscall.ENOEXEC) {
		err = syscall.Exec("/bin/sh", append([]string{"sh", file}, args[1:]...), env)
	}
	return err
}

// Exists reports whether name exists. It also returns true for a name that cannot be examined, which is the safe
// answer.
func Exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// IsFile reports whether name is a regular file, or a link to one.
func IsFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// IsSameFile reports whether a and b are the same file, links followed.
func IsSameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
