//go:build linux

package guard

import "golang.org/x/sys/unix"

// entryCallOf describes the system calls that the kernel reports to the guard, by the
// numbers and argument positions of x86-64.
func entryCallOf(nr int32) (entryCall, bool) {
	switch nr {
	case unix.SYS_OPEN:
		return entryCall{op: opOpen, dir: -1, path: 0, flags: 1, mode: 2}, true
	case unix.SYS_CREAT:
		return entryCall{op: opOpen, dir: -1, path: 0, flags: -1, mode: 1}, true
	case unix.SYS_MKDIR:
		return entryCall{op: opMkdir, dir: -1, path: 0, mode: 1}, true
	case unix.SYS_MKNOD:
		return entryCall{op: opMknod, dir: -1, path: 0, mode: 1}, true
	case unix.SYS_SYMLINK:
		return entryCall{op: opSymlink, dir: -1, path: 1, oldPath: 0}, true
	case unix.SYS_LINK:
		return entryCall{op: opLink, oldDir: -1, oldPath: 0, dir: -1, path: 1, flags: -1}, true
	case unix.SYS_RENAME:
		return entryCall{op: opRename, oldDir: -1, oldPath: 0, dir: -1, path: 1, flags: -1}, true
	case unix.SYS_UNLINK:
		return entryCall{op: opRemove, dir: -1, path: 0, flags: -1}, true
	case unix.SYS_RMDIR:
		return entryCall{op: opRemove, dir: -1, path: 0, flags: -1, rmdir: true}, true
	}
	return entryCallAt(nr)
}
