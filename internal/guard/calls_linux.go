package guard

import "golang.org/x/sys/unix"

// entryOp is the operation of a system call on a directory.
type entryOp int

const (
	opOpen     entryOp = iota // may create a file
	opMkdir                   // makes a directory
	opMknod                   // makes a FIFO or the like
	opLink                    // makes a hard link
	opSymlink                 // makes a symbolic link
	opRename                  // moves one name to another
	opRemove                  // unlink, rmdir
	opConnect                 // connects a socket
	opBind                    // binds a socket, to a path when it is a Unix socket
	opPair                    // makes a pair of datagram sockets
	opSockName                // returns the address of a socket
	opPeerName                // returns the address of the other end
	opExec                    // executes a program
	opUmask                   // sets the umask
)

func (o entryOp) String() string {
	return [...]string{
		"create", "create", "create", "link", "symlink", "rename", "remove", "connect", "create", "pair", "name", "name", "execute", "mask",
	}[o]
}

// onlyMakes reports whether the operation always fails if the entry exists.
func (o entryOp) onlyMakes() bool {
	return o == opMkdir || o == opMknod || o == opSymlink || o == opBind
}

// exists returns the operation's error for an existing entry.
func (o entryOp) exists() unix.Errno {
	if o == opBind {
		return unix.EADDRINUSE
	}
	return unix.EEXIST
}

// entryCall holds the positions of a system call's arguments. Positions count from
// 0; a directory of -1 is the working directory.
type entryCall struct {
	op              entryOp
	dir, path       int // the entry that the call creates (or removes)
	oldDir, oldPath int // rename: the old entry; link: the existing file; symlink: oldPath is the link's text
	flags           int // opOpen: open flags, -1 for creat; opRename, opLink, opRemove: their flags, -1 for none
	mode            int // opOpen, opMkdir, opMknod
	how             bool
	rmdir           bool
}

// entryCallAt describes the calls that every architecture has.
func entryCallAt(nr int32) (entryCall, bool) {
	switch nr {
	case unix.SYS_OPENAT:
		return entryCall{op: opOpen, dir: 0, path: 1, flags: 2, mode: 3}, true
	case unix.SYS_OPENAT2:
		return entryCall{op: opOpen, dir: 0, path: 1, flags: 2, how: true}, true
	case unix.SYS_MKDIRAT:
		return entryCall{op: opMkdir, dir: 0, path: 1, mode: 2}, true
	case unix.SYS_MKNODAT:
		return entryCall{op: opMknod, dir: 0, path: 1, mode: 2}, true
	case unix.SYS_SYMLINKAT:
		return entryCall{op: opSymlink, dir: 1, path: 2, oldPath: 0}, true
	case unix.SYS_LINKAT:
		return entryCall{op: opLink, oldDir: 0, oldPath: 1, dir: 2, path: 3, flags: 4}, true
	case unix.SYS_RENAMEAT:
		return entryCall{op: opRename, oldDir: 0, oldPath: 1, dir: 2, path: 3, flags: -1}, true
	case unix.SYS_RENAMEAT2:
		return entryCall{op: opRename, oldDir: 0, oldPath: 1, dir: 2, path: 3, flags: 4}, true
	case unix.SYS_UNLINKAT:
		return entryCall{op: opRemove, dir: 0, path: 1, flags: 2}, true
	case unix.SYS_CONNECT:
		return entryCall{op: opConnect}, true
	case unix.SYS_BIND:
		return entryCall{op: opBind}, true
	case unix.SYS_SOCKETPAIR:
		return entryCall{op: opPair}, true
	case unix.SYS_GETSOCKNAME:
		return entryCall{op: opSockName}, true
	case unix.SYS_GETPEERNAME:
		return entryCall{op: opPeerName}, true
	case unix.SYS_EXECVE, unix.SYS_EXECVEAT:
		return entryCall{op: opExec}, true
	case unix.SYS_UMASK:
		return entryCall{op: opUmask}, true
	}
	return entryCall{}, false
}
