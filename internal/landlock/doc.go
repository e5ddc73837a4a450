// Package landlock makes the kernel deny new directory entries to a process (landlock(7)). It is a second barrier in
// addition to the guard, which makes all entries itself from outside of the domain.
package landlock
