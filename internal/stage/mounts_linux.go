package stage

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// submount returns a mount point below dir, or "".
func submount(dir string) (string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		if point := unescapeMount(fields[4]); strings.HasPrefix(point, dir+"/") {
			return point, nil
		}
	}
	return "", nil
}

// unescapeMount undoes proc_pid_mountinfo(5)'s octal escapes.
func unescapeMount(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// foreignClock names the file system of dir when another machine or program sets
// its change times, which an overlay's conflicts go by; else "".
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
