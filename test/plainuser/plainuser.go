// Package plainuser runs a test again as a plain user when the tests run as root.
package plainuser

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// id is the user and group ID of the plain user.
const id = 1000

// Repeat runs the calling top-level test a second time as a plain user when this process is root. Its failure fails t.
// It reports whether this process is root.
func Repeat(t *testing.T) (isRoot bool) {
	t.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	cmd.Env = append(os.Environ(), "HOME=/tmp")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("as uid %d: %v\n%s", id, err, out)
	}
	return true
}
