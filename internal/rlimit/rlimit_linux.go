package rlimit

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Lower sets the soft and the hard limit of process pid (0: this one) to n. It does not change a lower limit.
func Lower(pid, resource int, n uint64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &old); err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	lower := unix.Rlimit{Cur: min(n, old.Cur), Max: min(n, old.Max)}
	if err := unix.Prlimit(pid, resource, &lower, nil); err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	return nil
}

// SuppressCore stops the kernel from dumping the memory of process pid (0: this one). A core_pattern that starts with
// "|" runs a handler of the host with the dump as input, even at a limit of 0; only the value 1 stops it, which is
// also too small for any file (core(5)). seccomp.Deny prevents commands from lowering it to 0.
//
// A plain user cannot raise a hard limit of 0, so SuppressCore keeps it: the kernel then writes no file, and passes
// the limit to a handler.
func SuppressCore(pid int) error {
	err := unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1, Max: 1}, nil)
	if errors.Is(err, unix.EPERM) {
		return Lower(pid, unix.RLIMIT_CORE, 1)
	}
	if err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	return nil
}
