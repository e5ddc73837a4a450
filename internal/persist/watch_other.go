//go:build !linux

package persist

// watch returns nil: this system reports no deletions.
func (s Store) watch(string) (<-chan struct{}, error) { return nil, nil }
