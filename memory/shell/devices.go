package shell

import (
	"io/fs"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// AddDevices makes /dev and /proc in a tree for the machines that will have it: the devices, and names for
// what a process has open. What /proc shows is each machine's own. Nothing of them may be there yet.
func AddDevices(f *vfs.FS) error {
	root := vfs.Cred{}
	for _, dir := range []string{"/dev", "/proc"} {
		if err := f.MkdirAll(root, dir, 0o755); err != nil {
			return err
		}
	}
	if err := f.Generate("/proc"); err != nil {
		return err
	}
	for _, d := range []struct {
		name         string
		major, minor uint32
	}{{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}} {
		if err := f.Mknod(root, "/dev/"+d.name, fs.ModeDevice|fs.ModeCharDevice|0o666, vfs.Device(d.major, d.minor)); err != nil {
			return err
		}
	}
	for _, l := range [][2]string{{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"}} {
		if err := f.Symlink(root, l[1], "/dev/"+l[0]); err != nil {
			return err
		}
	}
	return nil
}
