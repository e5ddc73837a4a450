// Package vfs is a file system that exists only in memory: a persistent tree of
// inodes with the semantics of POSIX and the errors of Linux.
//
// A [FS] is safe for concurrent use. [FS.Snapshot], [FS.Restore] and [FS.Fork] take
// constant time for trees of any size: trees share their common parts and
// copy parts on write. [Limits] apply inside the tree, so that no writer exceeds them.
//
// Paths are resolved in the tree and nowhere else: the package makes no host file
// call. "/.." is "/", and a link cannot lead out. Errors are *fs.PathError or
// *os.LinkError with a [syscall.Errno] inside, exactly the one Linux would give.
package vfs
