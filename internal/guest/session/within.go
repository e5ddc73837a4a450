package session

import (
	"fmt"
	"os"
)

// Within calls f with a name for dir's entry of that name that is good while f runs, and short: a socket's must be
// shorter than 108 bytes (unix(7)), whatever its directory's is, so it leads through an open directory.
func Within(dir, name string, f func(path string) error) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return f(fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), name))
}
