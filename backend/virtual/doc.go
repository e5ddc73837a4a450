// Package virtual is the backend in memory: commands run on our own file system, shell and programs, inside this process.
// It reads the directories that the policy names on the host as commands need them; only Apply writes to them.
//
// Package memory is the machine without a policy and without files of the host.
package virtual
