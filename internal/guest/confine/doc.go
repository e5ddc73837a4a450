// Package confine starts a command in a sandbox with the least work. bubblewrap executes this program after it has
// built the isolation. The program installs the guard's seccomp program, sends the listener to the host, enters a
// Landlock domain that denies every new directory entry, and executes the command. See docs/design/guard.md.
//
// In a guest that is linked with [Entry] as its first instruction, this happens before Go's runtime starts, because the
// start of the runtime takes longer than these steps. [Run] does the same in Go.
package confine
