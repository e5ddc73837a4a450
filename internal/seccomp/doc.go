// Package seccomp makes the seccomp programs (seccomp(2)) for commands: one that
// denies calls that no command needs, and one that reports calls to the guard. On each architecture it
// makes programs for both.
package seccomp
