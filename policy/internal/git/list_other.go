//go:build !linux

package git

import "os"

// list reads a directory.
func list(dir string, names *Names, _ []byte) (listing, error) {
	l := listing{wanted: names}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		l.add(e.Name(), e.IsDir())
	}
	return l, err
}
