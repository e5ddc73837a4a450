//go:build linux

package guard

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// view compares a command's files with the sandbox's own mounts. A command with a user namespace can make its own
// mounts, or get a descriptor from a command that has. Then its paths lead to other files than those in the rules. A
// nil view means that commands cannot mount.
type view struct {
	open   func() error // opens it once; not before the sandbox is complete
	root   int
	shared map[uint64]bool // devices of the mounts that do not belong to the sandbox
}

// newView returns the view of the process whose PID first returns, for rules about its paths.
func newView(first func() int, rules *ruleset) *view {
	v := &view{root: -1}
	v.open = sync.OnceValue(func() (err error) {
		dir := "/proc/" + strconv.Itoa(first())
		data, err := os.ReadFile(dir + "/mountinfo")
		if err != nil {
			return err
		}
		v.shared = sharedDevices(data, rules)
		v.root, err = unix.Open(dir+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return err
	})
	return v
}

// sharedDevices reads the mountinfo file of a process (proc_pid_mountinfo(5)).
func sharedDevices(data []byte, rules *ruleset) map[uint64]bool {
	shared := map[uint64]bool{}
	for line := range bytes.Lines(data) {
		fields := strings.Fields(string(line))
		const device, point = 2, 4
		if len(fields) <= point || rules.access(fields[point]) == Private {
			continue
		}
		major, minor, _ := strings.Cut(fields[device], ":")
		a, err1 := strconv.ParseUint(major, 10, 32)
		b, err2 := strconv.ParseUint(minor, 10, 32)
		if err1 == nil && err2 == nil {
			shared[unix.Mkdev(uint32(a), uint32(b))] = true
		}
	}
	return shared
}

// has reports whether path refers to the file of fd in the view.
func (v *view) has(fd int, path string) bool {
	if v == nil {
		return true
	}
	if v.open() != nil {
		return false
	}
	how := unix.OpenHow{
		Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS,
	}
	there, err := unix.Openat2(v.root, path, &how)
	if err != nil {
		return false
	}
	defer unix.Close(there)
	return isSameFile(fd, there)
}

// permits reports whether a command may make entries in the directory fd, which has that path for the command. It may
// if the path refers to the same directory in the view, so that the rules apply, or if the directory lies on a memory
// file system that only the sandbox has. Other file systems could store their content in a directory of the host.
func (v *view) permits(fd int, path string) bool {
	if v.has(fd, path) {
		return true
	}
	var system unix.Statfs_t
	var st unix.Stat_t
	return v.shared != nil && unix.Fstatfs(fd, &system) == nil && system.Type == unix.TMPFS_MAGIC &&
		unix.Fstat(fd, &st) == nil && !v.shared[st.Dev]
}

func (v *view) close() {
	if v != nil && v.root >= 0 {
		_ = unix.Close(v.root)
	}
}
