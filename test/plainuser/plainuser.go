// Package plainuser runs a test again as a plain user when the tests run as root.
package plainuser

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// id is the user and group ID of the plain user.
const id = 1000

// Repeat runs the calling top-level test a second time as a plain user when this process is root. If that run fails or is
// skipped, t fails or is skipped. It reports whether this process is root.
func Repeat(t *testing.T) (isRoot bool) {
	t.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	cmd.Env = append(os.Environ(), "HOME=/tmp")
	out, err := cmd.CombinedOutput()
	if before, _, skipped := bytes.Cut(out, []byte("--- SKIP: "+t.Name()+" ")); err == nil && skipped {
		lines := bytes.Split(bytes.TrimSpace(before), []byte("\n"))
		t.Skipf("as uid %d: %s", id, bytes.TrimSpace(lines[len(lines)-1]))
	}
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("as uid %d: %v\n%s", id, err, out)
	}
	return true
}

// RepeatPackage runs all other tests of the calling package as a plain user when this process is root. Their failure fails t.
// Without root the tests run as a plain user in any case. It skips t with -short.
func RepeatPackage(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	if testing.Short() {
		t.Skip("as one user only: run without -short")
	}
	home := t.TempDir()
	// t.TempDir makes the directory above with mode 0700.
	if err := errors.Join(os.Chown(home, id, id), os.Chmod(filepath.Dir(home), 0o711)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.skip", "^"+t.Name()+"$")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as uid %d: %v\n%s", id, err, out)
	}
}
