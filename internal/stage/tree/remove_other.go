//go:build !linux

package tree

import "os"

// Remove removes a directory with everything in it.
func Remove(name string) error { return os.RemoveAll(name) }
