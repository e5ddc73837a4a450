//go:build linux

package host

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// asPlainUser runs the calling top-level test again as uid 1000 when this process is root, and reports whether the caller
// is to go on.
func asPlainUser(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1000, Gid: 1000}}
	cmd.Env = append(os.Environ(), "HOME=/tmp")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("as uid 1000: %v\n%s", err, out)
	}
	return false
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}
