package session

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// verify returns an error if another file, or no file, is mounted at a path: a symbolic link may have redirected either
// end of the mount. This process sees the same files as commands.
func verify(expected []Identity) error {
	for _, e := range expected {
		if err := e.verify(); err != nil {
			return sandbox.Errorf(sandbox.Denied, "%q changed while the sandbox started: %w", string(e.Path), err).
				WithHint("something else changes the workspace, another sandbox perhaps: end it, or try again")
		}
	}
	return nil
}

func (e Identity) verify() error {
	var st unix.Statx_t
	// One call, so that all fields describe the same file.
	if err := unix.Statx(unix.AT_FDCWD, string(e.Path), unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_INO, &st); err != nil {
		return err
	}
	switch {
	case st.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT == 0:
		return errors.New("this kernel does not identify mounts; Linux 5.8 does")
	case st.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0:
		return errors.New("what belongs there was mounted elsewhere")
	case e.Ino != 0 && (st.Ino != e.Ino || unix.Mkdev(st.Dev_major, st.Dev_minor) != e.Dev):
		return errors.New("another file was mounted there")
	}
	return nil
}
