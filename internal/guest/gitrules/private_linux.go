package gitrules

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
)

// IsPrivate reports whether a file lies in a directory that exists only as long as the sandbox: whether it is on the
// same mount. A directory of the host that is mounted below it, or to which a link there leads, is on another mount.
func IsPrivate(name string) bool {
	mount := mountID(name)
	if mount == "" {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return false // a link without target, or a file that cannot be examined
		}
		if mount = mountID(filepath.Dir(name)); mount == "" {
			return false
		}
	}
	for n := 0; ; n++ {
		switch root := mountID(filepath.Join(layout.PrivateDir, strconv.Itoa(n))); root {
		case "":
			return false
		case mount:
			return true
		}
	}
}

// mountID returns the identifier of the mount on which a file is, after links were followed; empty: unknown.
func mountID(name string) string {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = unix.Close(fd) }()
	for line := range strings.Lines(readBounded("/proc/self/fdinfo/" + strconv.Itoa(fd))) {
		if id, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			return strings.TrimSpace(id)
		}
	}
	return ""
}
