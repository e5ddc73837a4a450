// Package vfs is a file system that exists only in memory: a persistent tree of
// inodes with the semantics of POSIX and the errors of Linux.
//
// A [FS] is safe for concurrent use. [FS.Snapshot], [FS.Restore] and [FS.Fork] take
// constant time whatever the tree holds: trees share what they have in common and
// copy what they write. [Limits] hold inside the tree, so that no writer passes them.
//
// Paths are resolved in the tree and nowhere else: the package makes no host file
// call. "/.." is "/", and a link cannot lead out. Errors are *fs.PathError or
// *os.LinkError with a [syscall.Errno] inside, exactly the one Linux would give.
package vfs
