// Package filter makes the seccomp programs (seccomp(2)) that commands run under: one that
// denies what no command needs, and one that asks the guard. They are for Linux, and for
// both architectures whatever this one is.
package seccomp
