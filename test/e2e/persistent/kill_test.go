//go:build linux

package persistent_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// victim is a process to kill. When kill is called, the sandbox runs and executes one command.
type victim struct {
	name string
	kill func(t *testing.T, p *place, r *rand.Rand, running *exec.Cmd) error
	// stays: the sandbox continues, and only the processes of the command end.
	stays bool
}

var victims = []victim{
	{"the command line", killCommand, true},
	{"the keeper", killKeeper, false},
	{"the guest's supervisor", killSupervisor, false},
	{"the walls", killWalls, false},
	{"who starts", killStarter, false},
	{"the keeper that starts", killStarted, false},
	{"who stops", killStopper, false},
}

func killCommand(_ *testing.T, _ *place, _ *rand.Rand, running *exec.Cmd) error {
	return running.Process.Kill()
}

func killKeeper(_ *testing.T, p *place, _ *rand.Rand, _ *exec.Cmd) error {
	return kill(p.find(command, "keep", name))
}

func killSupervisor(t *testing.T, p *place, _ *rand.Rand, _ *exec.Cmd) error {
	t.Helper()
	if p.host == "" {
		return kill(p.below(p.find(command, "keep", name), "/agent-sandbox serve"))
	}
	pid, err := strconv.Atoi(p.docker(t, "inspect", "-f", "{{.State.Pid}}", p.note(t)[0])[0])
	if err != nil {
		return err
	}
	return kill(pid)
}

// killWalls kills the first process of the sandbox's namespaces, or lets the engine kill it.
func killWalls(t *testing.T, p *place, _ *rand.Rand, _ *exec.Cmd) error {
	t.Helper()
	if p.host == "" {
		outer := p.below(p.find(command, "keep", name), "bwrap ")
		return kill(p.below(outer, "bwrap "))
	}
	p.docker(t, "kill", p.note(t)[0])
	return nil
}

func killStarter(_ *testing.T, p *place, r *rand.Rand, _ *exec.Cmd) error {
	return p.halfway(r, 150*time.Millisecond, "start", func(cmd *exec.Cmd) error { return cmd.Process.Kill() })
}

func killStarted(_ *testing.T, p *place, r *rand.Rand, _ *exec.Cmd) error {
	return p.halfway(r, 150*time.Millisecond, "start", func(*exec.Cmd) error {
		if pid := p.find(command, "keep", name); pid != 0 {
			_ = kill(pid) // the child may have ended
		}
		return nil
	})
}

func killStopper(_ *testing.T, p *place, r *rand.Rand, _ *exec.Cmd) error {
	return p.halfway(r, 40*time.Millisecond, "stop", func(cmd *exec.Cmd) error { return cmd.Process.Kill() })
}

// halfway starts a subcommand and calls do for it at a random moment. Before a start it stops the sandbox.
func (p *place) halfway(r *rand.Rand, most time.Duration, what string, do func(*exec.Cmd) error) error {
	if what == "start" {
		if err := p.run("stop", name); err != nil {
			return err
		}
	}
	cmd := p.prepare(what, name)
	if err := cmd.Start(); err != nil {
		return err
	}
	moment(r, most)
	if err := do(cmd); err != nil {
		return err
	}
	_ = cmd.Wait() // it was killed, or had ended
	return nil
}

func kill(pid int) error {
	if pid == 0 {
		return fmt.Errorf("there is no process to kill")
	}
	return unix.Kill(pid, unix.SIGKILL)
}

// below returns a child of a process whose command line begins with a text, or contains it.
func (p *place) below(parent int, args string) int {
	children, _ := exec.Command("ps", "-o", "pid=,args=", "--ppid", strconv.Itoa(parent)).Output() //nolint:noctx // at once
	for line := range strings.SplitSeq(string(children), "\n") {
		pid, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(pid); err == nil && (strings.HasPrefix(strings.TrimSpace(rest), args) || strings.Contains(rest, args)) {
			if strings.HasPrefix(args, "bwrap") || !strings.HasPrefix(strings.TrimSpace(rest), "bwrap") {
				return n
			}
		}
		if n, err := strconv.Atoi(pid); err == nil {
			if deeper := p.below(n, args); deeper != 0 {
				return deeper
			}
		}
	}
	return 0
}

func Test_Killed_At_Any_Moment_Bubblewrap_Leaves_Nothing(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "bwrap", "--unshare-user", "--ro-bind", "/", "/", "true").CombinedOutput(); err != nil {
		unavailable(t, "bwrap", fmt.Sprintf("%v: %s", err, out))
	}
	killing(t, newPlace(t, "bwrap", ""), rounds(t, 35))
}

func killing(t *testing.T, p *place, n int) {
	t.Helper()
	r := chance(t)
	// Files that are created once for all sandboxes are no residue.
	p.create(t)
	if err := p.run("destroy", name); err != nil {
		t.Fatal(err)
	}
	before := p.residue(t)
	p.create(t)
	count := map[string]int{}
	for i := range n {
		v := victims[i%len(victims)]
		if i >= len(victims) {
			v = victims[r.IntN(len(victims))]
		}
		if err := p.round(t, r, v); err != nil {
			t.Fatalf("round %d, %s: %v", i, v.name, err)
		}
		count[v.name]++
	}
	p.note(t)
	if err := p.run("destroy", name); err != nil {
		t.Fatal(err)
	}
	p.compare(t, before)
	t.Logf("%d rounds: %v; %d containers", n, count, len(p.containers))
}

// compare checks for new files and processes after everything has ended.
func (p *place) compare(t *testing.T, before []string) {
	t.Helper()
	if left := p.quiet(20 * time.Second); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	after := p.residue(t)
	// The next start removes a control group that a killed program of another user has left.
	before = slices.DeleteFunc(slices.Clone(before), func(what string) bool {
		return strings.HasPrefix(what, "cgroup ") && !slices.Contains(after, what)
	})
	if !slices.Equal(before, after) {
		t.Errorf("before %d things:\n%s\nafter %d:\n%s", len(before), strings.Join(before, "\n"), len(after), strings.Join(after, "\n"))
	}
}

// round kills one victim and checks that the processes that depend on it end, and that the others continue.
func (p *place) round(t *testing.T, r *rand.Rand, v victim) error {
	t.Helper()
	if err := p.works(); err != nil {
		return fmt.Errorf("before: %w", err)
	}
	p.note(t)
	running, err := p.busy()
	if err != nil {
		return err
	}
	moment(r, 20*time.Millisecond)
	if err := v.kill(t, p, r, running); err != nil {
		_ = running.Process.Kill()
		return fmt.Errorf("%w (%w)", err, running.Wait())
	}
	if v.stays {
		_ = running.Wait() // it was killed
		if left := p.commands(20 * time.Second); len(left) > 0 {
			return fmt.Errorf("the command's processes are left: %v", left)
		}
		return p.run("exec", "--in", name, "--", "true")
	}
	if err := p.run("stop", name); err != nil {
		return err
	}
	_ = running.Wait() // its result does not matter
	p.note(t)
	if left := p.quiet(20 * time.Second); len(left) > 0 {
		return fmt.Errorf("processes are left: %v", left)
	}
	return nil
}

// commands waits for the end of a command's processes, and returns the remaining ones.
func (p *place) commands(wait time.Duration) []process {
	end := time.Now().Add(wait)
	for {
		left := slices.DeleteFunc(p.processes(), func(one process) bool { return !strings.HasPrefix(one.args, "sleep "+p.mark) })
		if len(left) == 0 || time.Now().After(end) {
			return left
		}
		if fd, err := unix.PidfdOpen(left[0].pid, 0); err == nil {
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(time.Until(end)/time.Millisecond)+1)
			_ = unix.Close(fd)
		}
	}
}
