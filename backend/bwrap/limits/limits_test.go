//go:build linux

package limits

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/plainuser"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// limitedRun is a command that ran under limits.
type limitedRun struct {
	out    string
	err    error
	reason string
	inside map[string]string // files of our cgroups, read while the command waited
}

// runLimited runs argv in a real sandbox under p, as the driver does it.
func runLimited(t *testing.T, p policy.Limits, argv ...string) limitedRun {
	t.Helper()
	l, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.skipped) > 0 {
		t.Fatalf("skipped %q", l.skipped)
	}
	cmd, pid, release := blockedBwrap(t, argv...)
	var run limitedRun
	if err := l.Attach(cmd.Process.Pid, pid); err != nil {
		t.Fatal(err)
	}
	run.inside = map[string]string{}
	var dirs []string
	for _, group := range l.made {
		dirs = append(dirs, group.dir)
		files, _ := filepath.Glob(filepath.Join(group.dir, "*"))
		for _, f := range files {
			if b, err := os.ReadFile(f); err == nil {
				run.inside[filepath.Base(f)] = strings.TrimSpace(string(b))
			}
		}
	}
	release()
	run.err = cmd.Wait()
	run.out, run.reason = cmd.Stdout.(*bytes.Buffer).String(), l.Reason()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	for _, dir := range dirs {
		if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
	return run
}

// blockedBwrap starts bubblewrap, which waits with its first process, whose PID it
// returns, until release is called.
func blockedBwrap(t *testing.T, argv ...string) (cmd *exec.Cmd, pid int, release func()) {
	t.Helper()
	require.Command(t, "bwrap", "bwrap")
	info, infoW := pipe(t)
	block, blockW := pipe(t)
	args := []string{
		"--unshare-user", "--unshare-pid", "--disable-userns", "--die-with-parent", "--cap-drop", "ALL",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--info-fd", "3", "--block-fd", "4", "--",
	}
	cmd = exec.CommandContext(t.Context(), "bwrap", append(args, argv...)...)
	cmd.ExtraFiles = []*os.File{infoW, block}
	cmd.Stdout, cmd.Stderr = &bytes.Buffer{}, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := infoW.Close(); err != nil {
		t.Fatal(err)
	}
	var status struct {
		Pid int `json:"child-pid"`
	}
	b, err := io.ReadAll(info)
	if err := errors.Join(err, json.Unmarshal(b, &status)); err != nil {
		t.Fatal(err)
	}
	return cmd, status.Pid, func() {
		if _, err := blockW.WriteString("x"); err != nil {
			t.Error(err)
		}
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

func limitsOf(l sandbox.Limits, required ...string) policy.Limits {
	p := policy.Limits{Limits: l, Required: map[string]string{}}
	for _, r := range required {
		p.Required[r] = "--limit " + r
	}
	return p
}

// needRoot skips the test unless it runs as root: only root can write cgroups on a host that delegates none.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root for cgroups")
	}
}

// bomb forks until it cannot, and prints how many children it got.
const bomb = `import os, sys
n = 0
try:
    while n < 500:
        if os.fork() == 0:
            sys.stdin.read(); os._exit(0)
        n += 1
except BlockingIOError:
    pass
print(n)
os.kill(-1, 9)
`

func Test_Pids_Limit_Stops_A_Fork_Bomb_By_Cgroup(t *testing.T) {
	needRoot(t)
	run := runLimited(t, limitsOf(sandbox.Limits{Pids: 20}, "pids"), "/usr/bin/python3", "-c", "import os\nos.setpgid(0, 0)\n"+bomb)
	if got := strings.TrimSpace(run.out); got != "19" {
		t.Errorf("%q children beside itself, want 19 (%v)", got, run.err)
	}
	if run.inside["pids.max"] != "21" {
		t.Errorf("pids.max is %q", run.inside["pids.max"])
	}
}

func Test_Pids_Limit_Stops_A_Fork_Bomb_By_Rlimit(t *testing.T) {
	if plainuser.Repeat(t) {
		return
	}
	for _, required := range [][]string{{"pids"}, nil} {
		run := runLimited(t, limitsOf(sandbox.Limits{Pids: 20}, required...), "/usr/bin/python3", "-c", bomb)
		if got := strings.TrimSpace(run.out); got != "19" {
			t.Errorf("required %v: %q children beside itself, want 19 (%v)", required, got, run.err)
		}
	}
}

// hog allocates more and more memory, 32 MiB at a time.
const hog = `import sys
kept = []
for i in range(64):
    kept.append(bytearray(b"x") * (32 << 20))
print("took all")
`

func Test_Memory_Limit_Kills_A_Hog_And_Names_The_Reason(t *testing.T) {
	needRoot(t)
	run := runLimited(t, limitsOf(sandbox.Limits{Memory: 128 << 20}, "memory"), "/usr/bin/python3", "-c", hog)
	if exitStatus(run.err) != 128+int(unix.SIGKILL) || run.out != "" {
		t.Errorf("got %v and %q", run.err, run.out)
	}
	if run.reason != "memory limit of 128MiB" {
		t.Errorf("reason %q", run.reason)
	}
}

func Test_Memory_Limit_Counts_The_Tmpfs(t *testing.T) {
	needRoot(t)
	run := runLimited(t, limitsOf(sandbox.Limits{Memory: 64 << 20}, "memory"),
		"sh", "-c", "head -c 256M /dev/zero > /tmp/f; echo $?")
	if run.reason != "memory limit of 64MiB" || strings.TrimSpace(run.out) == "0" {
		t.Errorf("reason %q, output %q", run.reason, run.out)
	}
}

func Test_No_Reason_Without_A_Kill(t *testing.T) {
	needRoot(t)
	run := runLimited(t, limitsOf(sandbox.Limits{Memory: 128 << 20, Pids: 50, CPU: 2}, "memory", "pids", "cpu"), "false")
	if run.reason != "" || exitStatus(run.err) != 1 {
		t.Errorf("reason %q, %v", run.reason, run.err)
	}
}

func Test_CPU_Limit_Is_Set(t *testing.T) {
	needRoot(t)
	run := runLimited(t, limitsOf(sandbox.Limits{CPU: 0.5}, "cpu"), "/usr/bin/python3", "-c", `import time
wall, cpu = time.monotonic(), time.process_time()
while time.process_time() - cpu < 0.4: pass
print((time.process_time() - cpu) / (time.monotonic() - wall))`)
	if run.inside["cpu.cfs_quota_us"]+" "+run.inside["cpu.cfs_period_us"] != "50000 100000" && run.inside["cpu.max"] != "50000 100000" {
		t.Errorf("got %v", run.inside)
	}
	share, err := strconv.ParseFloat(strings.TrimSpace(run.out), 64)
	if err != nil || share > 0.75 {
		t.Errorf("used %q of a processor, want about half (%v)", run.out, err)
	}
}

func Test_A_Limit_That_Cannot_Be_Enforced_Is_Refused_Or_Skipped(t *testing.T) {
	if plainuser.Repeat(t) {
		return
	}
	for name, l := range map[string]sandbox.Limits{"memory": {Memory: 512 << 20}, "cpu": {CPU: 1.5}} {
		if all, err := ownHierarchies(); err != nil || len(homes(all, []string{name}, []string{name})) > 0 {
			t.Skipf("this host delegates the %s cgroup (%v)", name, err)
		}
		_, err := New(limitsOf(l, name))
		if !errors.Is(err, sandbox.ErrUnsupported) {
			t.Fatalf("%s: got %v", name, err)
		}
		for _, want := range []string{"limits." + name, "--limit " + name, "no " + name + " cgroup"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q lacks %q", err, want)
			}
		}
		if !strings.Contains(sandbox.HintOf(err), "systemd-run") {
			t.Errorf("hint %q", sandbox.HintOf(err))
		}
		// Only the defaults set the limit.
		optional, err := New(limitsOf(l))
		if err != nil || len(optional.skipped) != 1 || !strings.HasPrefix(optional.skipped[0], "limits."+name+": ") {
			t.Errorf("%s: skipped %q, %v", name, optional.skipped, err)
		}
	}
}

func Test_Core_Limit_Holds_Inside(t *testing.T) {
	run := runLimited(t, policy.Limits{}, "sh", "-c", "ulimit -Hc; ulimit -Sc; grep core /proc/self/limits")
	if want := []string{"Max", "core", "file", "size", "1", "1", "bytes"}; !slices.Equal(strings.Fields(run.out)[2:], want) {
		t.Errorf("got %q", run.out)
	}
}

func Test_A_Limit_Of_The_Caller_That_Is_Already_Lower_Stays(t *testing.T) {
	if plainuser.Repeat(t) { // root may raise a limit
		return
	}
	l, err := New(limitsOf(sandbox.Limits{File: 1 << 30}, "file"))
	if err != nil {
		t.Fatal(err)
	}
	cmd, pid, release := blockedBwrap(t, "sh", "-c", "ulimit -Hc; ulimit -Hf; ulimit -Sf")
	for resource, n := range map[int]unix.Rlimit{unix.RLIMIT_CORE: {}, unix.RLIMIT_FSIZE: {Cur: 1 << 20, Max: 2 << 20}} {
		if err := unix.Prlimit(pid, resource, &n, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Attach(cmd.Process.Pid, pid); err != nil {
		t.Errorf("limits that are met: %v", err)
	}
	release()
	// Dash counts files in blocks of 512 bytes.
	if err := cmd.Wait(); err != nil || cmd.Stdout.(*bytes.Buffer).String() != "0\n4096\n2048\n" {
		t.Errorf("%v, the limits inside are %q", err, cmd.Stdout)
	}
}

func Test_Remove_Kills_Remaining_Processes(t *testing.T) {
	needRoot(t)
	for name, want := range map[string]policy.Limits{
		"version 1": limitsOf(sandbox.Limits{Pids: 50}, "pids"),
		"version 2": {},
	} {
		t.Run(name, func(t *testing.T) {
			group := groupFor(t, name, want)
			cmd := exec.CommandContext(t.Context(), "sleep", "1000")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if err := group.add(cmd.Process.Pid); err != nil {
				t.Fatal(err)
			}
			// Reap the child, or it would stay a zombie.
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			if err := group.remove(); err != nil {
				t.Error(err)
			}
			if err := <-ended; exitStatus(err) != -1 || err == nil {
				t.Errorf("it ended with %v", err)
			}
			if _, err := os.Lstat(group.dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is still there", group.dir)
			}
			if err := group.remove(); err != nil {
				t.Errorf("again: %v", err)
			}
		})
	}
}

// groupFor makes a cgroup of the named version, if the host has it.
func groupFor(t *testing.T, version string, p policy.Limits) *cgroupDir {
	t.Helper()
	all, err := ownHierarchies()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range all {
		if h.unified != (version == "version 2") {
			continue
		}
		found := h.homes(wantedControllers(p), wantedControllers(p))
		if len(found) == 0 {
			continue
		}
		group, err := makeCgroup(found[0])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = group.remove() })
		return group
	}
	t.Skipf("no writable %s hierarchy here", version)
	return nil
}

// Test_Helper_Makes_A_Cgroup is the process that Test_Sweep_Takes_The_Cgroups_Of_Killed_Owners_Only kills; by itself it does
// nothing.
func Test_Helper_Makes_A_Cgroup(t *testing.T) {
	needRoot(t)
	if os.Getenv("SANDBOX_TEST_OWNER") == "" {
		return
	}
	group := groupFor(t, "version 1", limitsOf(sandbox.Limits{Pids: 9}, "pids"))
	if _, err := os.Stdout.WriteString("\ncgroup " + group.dir + "\n"); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func Test_Sweep_Takes_The_Cgroups_Of_Killed_Owners_Only(t *testing.T) {
	needRoot(t)
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "^Test_Helper_Makes_A_Cgroup$", "-test.v")
	cmd.Env = append(os.Environ(), "SANDBOX_TEST_OWNER=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dir := cgroupLine(t, stdout)
	p := limitsOf(sandbox.Limits{Pids: 9}, "pids")
	if _, err := New(p); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); err != nil {
		t.Errorf("the cgroup of a living owner went: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if _, err := os.Lstat(dir); err != nil {
		t.Errorf("nothing was left to sweep: %v", err)
	}
	if _, err := New(p); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
}

func cgroupLine(t *testing.T, r io.Reader) string {
	t.Helper()
	var seen []byte
	for buf := make([]byte, 256); ; {
		n, err := r.Read(buf)
		seen = append(seen, buf[:n]...)
		if _, after, ok := strings.Cut(string(seen), "\ncgroup "); ok && strings.Contains(after, "\n") {
			dir, _, _ := strings.Cut(after, "\n")
			return dir
		}
		if err != nil {
			t.Fatalf("%v after %q", err, seen)
		}
	}
}

func exitStatus(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return -1
}
