package main

import "golang.org/x/sys/unix"

// oldCalls are the numbers of calls that only older architectures have.
var oldCalls = map[string]uintptr{ //nolint:gochecknoglobals // a table
	"open": unix.SYS_OPEN, "creat": unix.SYS_CREAT, "mkdir": unix.SYS_MKDIR, "mknod": unix.SYS_MKNOD, "symlink": unix.SYS_SYMLINK, "link": unix.SYS_LINK,
	"rename": unix.SYS_RENAME, "unlink": unix.SYS_UNLINK, "rmdir": unix.SYS_RMDIR,
}
