// Package seccomp makes the seccomp programs (seccomp(2)) for commands: one that denies calls that
// commands do not need, and one that reports calls to the guard. On each architecture it can make the
// programs for amd64 and arm64.
package seccomp
