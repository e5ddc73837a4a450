package session

import (
	"fmt"
	"os"
)

// Within calls f with a short path for the entry name of dir, which is valid while f runs. The path of a socket must be shorter than
// 108 bytes (unix(7)), so the path leads through an open descriptor of dir.
func Within(dir, name string, f func(path string) error) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return f(fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), name))
}
