package view

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
)

func Test_A_Stage_That_Cannot_Be_Mounted_Starts_Nothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := func() *syscall.SysProcAttr {
		id := func(n int) []syscall.SysProcIDMap {
			return []syscall.SysProcIDMap{{ContainerID: n, HostID: n, Size: 1}}
		}
		return &syscall.SysProcAttr{
			Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: id(os.Geteuid()), GidMappings: id(os.Getegid()),
			AmbientCaps: []uintptr{21}, // CAP_SYS_ADMIN
		}
	}
	run := []string{"--", "/bin/echo", "started"}
	for _, row := range []struct {
		name string
		attr *syscall.SysProcAttr
		args []string
		code int
		want string
	}{
		{"without namespaces of its own", nil, []string{"--bind", dir, "--target", dir}, exitStage, "namespace of its own"},
		{"over nothing", own(), []string{"--bind", dir, "--target", dir + "/missing"}, exitStage, "missing"},
		{"of nothing", own(), []string{"--bind", dir + "/missing", "--target", dir}, exitStage, "missing"},
		{"with a work directory that is the upper one", own(), []string{"--lower", "/usr", "--upper", dir, "--work", dir, "--target", dir}, exitStage, "mount overlay"},
		{"with an unknown option", own(), []string{"--evil", dir, "--target", dir}, process.ExitUsage, "usage"},
		{"without a target", own(), []string{"--bind", dir}, process.ExitUsage, "usage"},
		{"as an overlay and a copy", own(), []string{"--bind", dir, "--lower", dir, "--target", dir}, process.ExitUsage, "usage"},
	} {
		t.Run(row.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), guesttest.Program(t), append(append([]string{"stage"}, row.args...), run...)...)
			cmd.SysProcAttr = row.attr
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code != row.code || stdout.Len() > 0 || !strings.Contains(stderr.String(), row.want) {
				t.Errorf("status %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
			}
			if row.code == exitStage && strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("more than a line: %q", stderr.String())
			}
		})
	}
}
