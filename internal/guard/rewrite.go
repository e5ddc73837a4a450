//go:build linux

package guard

import (
	"bytes"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxRewrite is the size of the largest file that isRewrite compares: git's configurations are small, and calls wait meanwhile.
const maxRewrite = 64 << 10

// isRewrite reports whether a rename of from to to by process pid is how git writes a file that it has not changed: "git init" in a
// repository writes each of its settings to config.lock and renames that to config. If config is mounted read-only and has the
// same content, the rename succeeds when config.lock is removed. The command may remove config.lock itself, so it gains
// nothing if it changes the file meanwhile. Other files are not compared: they can be hidden from the command, which would learn
// whether it has guessed their content.
func (g *Guard) isRewrite(pid uint32, from, to entry) bool {
	switch {
	case to.name != "config" || !strings.Contains(to.path+"/", "/.git/") || from.path != to.path || from.name != "config.lock" || !g.rules.mounted[to.String()]:
		return false
	case g.rules.anchored(from.String()), g.rules.mounted[from.String()], g.rules.guarded(from.path, from.name) != nil, g.hasLostMount(from):
		return false
	case !g.view.permits(from.dir, from.path):
		return false
	}
	written, ok := from.content()
	if !ok {
		return false
	}
	present, ok := to.content()
	return ok && (bytes.Equal(written, present) || isInit(pid) && bytes.Equal(withFileMode(written), withFileMode(present)))
}

// withFileMode sets core.filemode. "git init" tries to change the mode of config and concludes from the read-only mount that the
// file system has no modes.
func withFileMode(config []byte) []byte {
	return bytes.Replace(config, []byte("\n\tfilemode = false\n"), []byte("\n\tfilemode = true\n"), 1)
}

// isInit reports whether a process says that it is "git init". A process that only says so gets an answer and nothing else.
func isInit(pid uint32) bool {
	line, err := os.ReadFile("/proc/" + strconv.FormatUint(uint64(pid), 10) + "/cmdline")
	args := strings.Split(string(line), "\x00")
	return err == nil && (path.Base(args[0]) == "git" && slices.Contains(args[1:], "init") || path.Base(args[0]) == "git-init")
}

// content returns the content of a small regular file, as the target sees it; false: the entry is another kind of file.
func (e entry) content() ([]byte, bool) {
	// A FIFO must not block the guard.
	fd, err := unix.Openat(e.dir, e.component(), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	f := os.NewFile(uintptr(fd), e.name)
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRewrite {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(f, maxRewrite+1)) // it may grow
	return data, err == nil && len(data) <= maxRewrite
}
