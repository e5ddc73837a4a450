//go:build !linux

package gitrules

// IsPrivate reports false: a guest that is not Linux has no private directories.
func IsPrivate(string) bool { return false }
