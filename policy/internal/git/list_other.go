//go:build !linux

package git

import "os"

// list reads a directory.
func list(dir string, _ []byte) (listing, error) {
	var l listing
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		l.add(e.Name(), e.IsDir())
	}
	return l, err
}
