//go:build !linux

package tmpstore

import "github.com/seed434b0696/agent-sandbox/sandbox"

func unsupported() error {
	return sandbox.Errorf(sandbox.Unsupported, "a /tmp that lasts needs Linux")
}

// Prepare returns Unsupported.
func (s Store) Prepare(string) (string, error) { return "", unsupported() }

// Path returns Unsupported.
func (s Store) Path(string) (string, error) { return "", unsupported() }

// Ensure returns Unsupported.
func (s Store) Ensure(string) (string, error) { return "", unsupported() }

// Prune returns nil: there is nothing to remove.
func (s Store) Prune() ([]string, error) { return nil, nil }
