//go:build linux

package limits

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// suppressCore stops the kernel from dumping pid's memory. A core_pattern that
// starts with "|" runs a handler of the host with the dump as input, even at a
// limit of 0; only the value 1 stops it, which is also too small for any
// file (core(5), RLIMIT_CORE of 1 as the guard against recursion). seccomp.Deny
// prevents that a command lowers it to 0.
func suppressCore(pid int) error {
	if err := unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1, Max: 1}, nil); err != nil {
		return fmt.Errorf("RLIMIT_CORE of process %d: %w", pid, err)
	}
	return nil
}

// lowerLimit sets a limit of pid to n, or to its hard limit when that is lower.
func lowerLimit(pid, resource int, n uint64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &old); err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	n = min(n, old.Max)
	if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: n, Max: n}, nil); err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	return nil
}

// whyNoProcessLimit returns the reason why RLIMIT_NPROC would not bound a sandbox's processes,
// "" if it does. Since Linux 5.14 each user namespace counts by itself; before, all processes
// of the user on the host counted. The kernel exempts root, and root inside is root.
func whyNoProcessLimit(uid int, release string) string {
	switch {
	case uid == 0:
		return "root is exempt from RLIMIT_NPROC"
	case !kernelAtLeast(release, 5, 14):
		return "RLIMIT_NPROC counts the user's other processes before Linux 5.14, this is " + release
	}
	return ""
}

// KernelRelease returns the release of uname(2), such as "6.1.0-18-amd64"; "" on an error.
func KernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// kernelAtLeast reports whether release is major.minor or newer; false if it cannot be parsed.
func kernelAtLeast(release string, major, minor int) bool {
	parts := strings.SplitN(release, ".", 3)
	if len(parts) < 2 {
		return false
	}
	first, err := strconv.Atoi(parts[0])
	if err != nil {
		return false
	}
	digits := parts[1]
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	second, err := strconv.Atoi(digits)
	return err == nil && (first > major || first == major && second >= minor)
}
