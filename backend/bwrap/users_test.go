//go:build linux

package bwrap

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// alsoAsPlainUser runs the calling top-level test a second time as uid 1000 when this process is root.
func alsoAsPlainUser(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1000, Gid: 1000}}
	cmd.Env = append(os.Environ(), "HOME=/tmp")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("as uid 1000: %v\n%s", err, out)
	}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}
