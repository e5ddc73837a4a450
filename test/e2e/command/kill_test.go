package command_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// When agent-sandbox is killed at any moment of its start, no remaining process
// executes the command or will execute it.
func Test_A_Start_That_Is_Killed_Executes_Nothing_More(t *testing.T) {
	requireBwrap(t)
	dir := t.TempDir()
	const kills = 60
	mark := fmt.Sprintf("81%d.5", os.Getpid()) // seconds, unique to this test
	for i := range kills {
		cmd := exec.CommandContext(t.Context(), filepath.Join(scratch, "bin", "agent-sandbox"), "exec", "--", "sleep", mark)
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.NewTimer(time.Duration(i) * 700 * time.Microsecond)
		<-timer.C
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	for _, pid := range processesWith(t, mark) {
		waitGone(t, pid)
	}
	// A process that bubblewrap created may wait for it for ever. It executes
	// nothing; see docs/design/bwrap.md.
	for _, pid := range processesWith(t, mark) {
		if name := comm(pid); name != "bwrap" {
			t.Errorf("process %d still runs as %s", pid, name)
		} else if call, err := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", pid)); err == nil && strings.HasPrefix(string(call), "do_wait4") {
			t.Errorf("process %d waits for a command", pid)
		}
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// waitGone waits until the processes have ended, for a second on an idle
// machine.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if _, err := unix.Poll(poll, int(deadline.Scale(time.Second).Milliseconds())); err != nil {
		t.Log(err)
	}
}

func comm(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "gone"
	}
	return strings.TrimSpace(string(data))
}

// processesWith returns the processes that have arg among their arguments.
func processesWith(t *testing.T, arg string) (pids []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(data, []byte("\x00"+arg+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// A signal at any moment of a start ends the command, as it ends one that has not yet had time to handle signals.
func Test_A_Signal_During_A_Start_Is_Not_Lost(t *testing.T) {
	requireBwrap(t)
	dir := t.TempDir()
	const signals = 60
	for i := range signals {
		var stderr strings.Builder
		cmd := exec.CommandContext(t.Context(), filepath.Join(scratch, "bin", "agent-sandbox"), "exec", "--", "sleep", "5")
		cmd.Dir, cmd.Stderr = dir, &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		delay := time.Duration(i) * 700 * time.Microsecond
		timer := time.NewTimer(delay)
		<-timer.C
		_ = cmd.Process.Signal(unix.SIGTERM)
		_ = cmd.Wait()
		status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !ok || status.ExitStatus() != 143 && status.Signal() != unix.SIGTERM {
			t.Errorf("SIGTERM after %s: %s, want exit status 143\n%s", delay, cmd.ProcessState, stderr.String())
		}
	}
}

// When another process kills bubblewrap, the command did not fail: the sandbox did.
func Test_A_Killed_Bubblewrap_Is_A_Failure_Of_The_Sandbox(t *testing.T) {
	requireBwrap(t)
	dir := scratchDir(t)
	for range 10 {
		var stderr strings.Builder
		cmd := exec.CommandContext(t.Context(), filepath.Join(scratch, "bin", "agent-sandbox"), "exec", "--", "sh", "-c", "echo ready; exec sleep 60")
		cmd.Dir, cmd.Stderr = dir, &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 16)) // the command runs, or has failed
		for _, pid := range childrenOf(t, cmd.Process.Pid) {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 125 || !strings.Contains(stderr.String(), "bubblewrap was killed from outside") {
			t.Errorf("exit status %d, want 125: %s", code, stderr.String())
		}
	}
}

// childrenOf returns the children of all threads of a process.
func childrenOf(t *testing.T, pid int) (pids []int) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, _ := os.ReadFile(f) // a thread may have ended
		for field := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
