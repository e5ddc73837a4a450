package docker

import (
	"errors"
	"os"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxHosts bounds a hosts file: the engine writes a few lines.
const maxHosts = 1 << 20

// replaceIn takes lines out of a file and adds others at its end. The file stays the same one, because it is mounted.
func replaceIn(name, old, lines string) error {
	if lines == "" && old == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return sandbox.Errorf(sandbox.Unavailable, "the container's hosts file: %w", err)
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxHosts) {
		err = sandbox.Errorf(sandbox.Internal, "%s is no hosts file", name)
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
