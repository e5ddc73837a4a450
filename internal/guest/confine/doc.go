// Package confine is the shortest way into a sandbox: a program that bubblewrap executes when it has built the isolation. It
// installs the guard's program and sends the listener to the host, enters a Landlock domain that denies every new directory
// entry, and becomes the command. See docs/design/guard.md.
//
// Where the guest is linked with [Entry] as its first instruction, that happens before Go's runtime exists, because a start of
// the runtime costs more than all of it. [Run] does the same in Go.
package confine
