//go:build !linux

package keep

// watch tells nothing on this system.
func (s Store) watch(string) (<-chan struct{}, error) { return nil, nil }
