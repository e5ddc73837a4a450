//go:build linux

package guard

// entryCallOf describes the system calls that the kernel reports to the guard. arm64 has
// only the forms with a directory descriptor.
func entryCallOf(nr int32) (entryCall, bool) { return entryCallAt(nr) }
