// Package virtual runs commands in memory: on a file system, a shell and programs of our own
// (packages vfs, shell and coreutils), inside this process and without anything of the host but the
// directories that the policy names, which are read when they are looked at and never written.
//
// There are two ways in. [Driver] is a backend as any other: package sandbox makes sandboxes with
// it from a policy. [Machine] is the plain one: a machine with a shell that remembers, to execute scripts in,
// to snapshot and to fork, without a policy and without any file of the host.
package virtual
