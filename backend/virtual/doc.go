// Package virtual is the backend in memory: commands run on a file system, a shell and programs of our own, inside
// this process. Directories that the policy names are read on the host as commands need them; only Apply writes to
// them.
//
// A machine without a policy and without files of the host is package memory.
package virtual
