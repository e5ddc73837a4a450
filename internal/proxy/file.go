package proxy

import (
	"os"

	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
)

const (
	maxSecret = 64 << 10 // bytes of a value, and of a CA
	maxMasked = 4 << 20  // bytes of a file that is masked
)

// readPlain reads a regular file of at most limit bytes, at a path without links.
func readPlain(path string, limit int64) ([]byte, os.FileInfo, error) {
	f, err := hostfile.OpenResolved(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return hostfile.ReadAll(f, limit)
}
