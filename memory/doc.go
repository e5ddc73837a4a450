// Package memory is a computer in memory: a file system, a bash and more than 150 programs, inside this process.
// It starts no process, opens no file and makes no connection of the host.
//
// A [Machine] runs scripts, remembers the shell's state between them, and can be saved, restored and forked in
// constant time. Packages vfs and shell are its parts. Package virtual makes a backend of the same parts, which
// adds a policy, directories of the host and a network.
package memory
