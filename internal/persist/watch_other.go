//go:build !linux

package persist

// watch tells nothing on this system.
func (s Store) watch(string) (<-chan struct{}, error) { return nil, nil }
