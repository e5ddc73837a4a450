// Package hostsfile changes the hosts(5) file of a container.
package hostsfile

import (
	"errors"
	"os"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxSize is the largest hosts file: the engine writes a few lines.
const maxSize = 1 << 20

// Replace removes old from the file and appends lines. It changes the file in place, because the file is mounted.
func Replace(name, old, lines string) error {
	if lines == "" && old == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return sandbox.Errorf(sandbox.Unavailable, "the container's hosts file: %w", err)
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxSize) {
		err = sandbox.Errorf(sandbox.Internal, "%s is not a hosts file", name)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	data, err := os.ReadFile(name)
	if err == nil {
		text := strings.Replace(string(data), old, "", 1)
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += lines
		if _, err = f.WriteAt([]byte(text), 0); err == nil {
			err = f.Truncate(int64(len(text)))
		}
	}
	return errors.Join(err, f.Close())
}
