package proxy

import (
	"fmt"
	"io"
	"os"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	maxSecret = 64 << 10 // bytes of a value, and of a CA
	maxMasked = 4 << 20  // bytes of a file that is masked
)

// readPlain reads a regular file of at most limit bytes, at a path without links.
func readPlain(path string, limit int64) ([]byte, os.FileInfo, error) {
	f, err := openPlain(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return readRegular(f, limit)
}

func readRegular(f *os.File, limit int64) ([]byte, os.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", f.Name())
	}
	// It may grow while it is read, and a part of a value is another value.
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is larger than %s", f.Name(), sandbox.Bytes(limit))
	}
	return data, info, err
}
