//go:build linux

package landlock

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Version returns the version of Landlock's interface that this kernel offers to this process; 0: none.
func Version() int {
	n, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// IsOwnKernel reports whether release is the release of this process's kernel (uname(2)).
func IsOwnKernel(release string) bool {
	var u unix.Utsname
	return unix.Uname(&u) == nil && unix.ByteSliceToString(u.Release[:]) == release
}

// entries are the rights to make a directory entry. Every version of Landlock has them.
const entries = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
	unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM

// Entries returns the access rights of a ruleset without rules that denies every new directory entry, for
// landlock_create_ruleset(2). Version 1 always denies links and renames to another directory; later versions have a
// right for that.
func Entries(version int) uint64 {
	if version >= 2 {
		return entries | unix.LANDLOCK_ACCESS_FS_REFER
	}
	return entries
}

// DenyEntries denies every new directory entry to the calling OS thread and to what it starts, for good: mkdir(2), mknod(2),
// symlink(2), link(2), rename(2), bind(2) of a Unix socket to a path, and open(2) of a file that does not exist. Existing files,
// removals and O_TMPFILE without a name stay as they are. Afterwards the thread can neither mount nor trace a process outside. It
// sets no_new_privs (prctl(2)).
func DenyEntries() error { return Deny(Entries(Version())) }

// Deny is like DenyEntries, with the rights that [Entries] has returned.
func Deny(rights uint64) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	attr := rights // the first field of the attributes; the kernel treats missing fields as 0
	fd, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("landlock_create_ruleset: %w", errno)
	}
	defer unix.Close(int(fd))
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock_restrict_self: %w", errno)
	}
	return nil
}
