//go:build linux

package limits

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// whyNoProcessLimit returns the reason why RLIMIT_NPROC would not bound a sandbox's processes,
// "" if it does. Since Linux 5.14 each user namespace counts by itself; before, all processes
// of the user on the host counted. The kernel exempts root, and root inside is root.
func whyNoProcessLimit(uid int, release string) string {
	switch {
	case uid == 0:
		return "root is exempt from RLIMIT_NPROC"
	case !isKernelAtLeast(release, 5, 14):
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

// isKernelAtLeast reports whether release is major.minor or newer; false if it cannot be parsed.
func isKernelAtLeast(release string, major, minor int) bool {
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
