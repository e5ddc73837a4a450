package stage

import (
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/mountinfo"
)

// findSubmount returns a mount point below dir, or "".
func findSubmount(dir string) (string, error) {
	mounts, err := mountinfo.Self()
	if err != nil {
		return "", err
	}
	for _, m := range mounts {
		if strings.HasPrefix(m.Point, dir+"/") {
			return m.Point, nil
		}
	}
	return "", nil
}

// foreignClock returns the type of dir's file system if another machine or a program sets
// its change times; otherwise "". An overlay detects conflicts by these times.
func foreignClock(dir string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", err
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC:
		return "nfs", nil
	case unix.SMB_SUPER_MAGIC, 0xff534d42, 0xfe534d42:
		return "cifs", nil
	case 0x65735546:
		return "fuse", nil
	case 0x01021997:
		return "9p", nil
	case 0x00c36400:
		return "ceph", nil
	case unix.AFS_SUPER_MAGIC, 0x6b414653:
		return "afs", nil
	}
	return "", nil
}
