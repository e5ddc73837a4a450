//go:build linux && !amd64

package main

// oldCalls are the numbers of calls that only older architectures have; this architecture has
// none.
var oldCalls = map[string]uintptr{ //nolint:gochecknoglobals // a table
	"open": none, "creat": none, "mkdir": none, "mknod": none, "symlink": none, "link": none, "rename": none, "unlink": none, "rmdir": none,
}

const none = 1 << 20
