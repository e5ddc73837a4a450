//go:build linux

package limits

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/rlimit"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// ownProcesses is the number of processes inside that do not belong to the command: bubblewrap's first process, which reaps.
const ownProcesses = 1

// Limits holds the memory, file, pids and cpu limits of one command.
type Limits struct {
	policy  policy.Limits
	homes   []home
	nproc   uint64   // RLIMIT_NPROC, or 0
	skipped []string // optional limits that this host cannot hold, each with its reason
	made    []*cgroupDir
	memory  *cgroupDir // the one of made that counts memory, or nil
}

// New decides how to hold each limit. Unsupported: the host cannot hold a required one. It creates nothing yet, but
// removes the cgroups that killed processes of ours have left. The caller closes the result.
func New(p policy.Limits) (*Limits, error) {
	l := &Limits{policy: p}
	// Only for limits that a policy requires: moving a process into a cgroup waits for an
	// RCU grace period, some 13 ms, longer than all other steps of a start together.
	want := slices.DeleteFunc(wantedControllers(p), func(c string) bool { return p.Required[c] == "" })
	for _, c := range wantedControllers(p) {
		if p.Required[c] == "" {
			l.holdOptional(c)
		}
	}
	if len(want) == 0 {
		return l, nil
	}
	all, err := ownHierarchies()
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Unavailable, "cgroups: %w", err)
	}
	l.homes = homes(all, want, want)
	for _, h := range l.homes {
		sweep(h.dir)
	}
	for _, c := range want {
		reason := l.hold(c)
		if reason == "" {
			continue
		}
		return nil, unsupportedError(p, c, p.Required[c], reason)
	}
	return l, nil
}

// Probe reports how this host can hold the limits with a cgroup controller. why has for each of them "", or the reason
// why it cannot be held; cgroups lists those that a cgroup holds.
func Probe() (why map[string]string, cgroups []string) {
	names := []string{"cpu", "memory", "pids"}
	all, err := ownHierarchies()
	found := homes(all, names, names)
	for _, h := range found {
		cgroups = append(cgroups, h.controllers...)
	}
	why = map[string]string{}
	for _, c := range names {
		l := Limits{homes: found}
		why[c] = l.hold(c)
		if err != nil {
			why[c] = err.Error()
		}
	}
	return why, cgroups
}

// holdOptional holds a limit that only the defaults set if that costs nothing: the number of processes of a plain user.
func (l *Limits) holdOptional(c string) {
	why := "a cgroup is created only for limits that the policy sets"
	if c == "pids" {
		why = whyNoProcessLimit(os.Geteuid(), KernelRelease())
	}
	if why != "" {
		l.skip(c, why)
		return
	}
	l.nproc = uint64(l.policy.Pids) + ownProcesses
}

// wantedControllers returns the cgroup controllers that p needs, sorted. They have the names of limits.
func wantedControllers(p policy.Limits) []string {
	set := map[string]bool{"memory": p.Memory > 0, "pids": p.Pids > 0, "cpu": p.CPU > 0}
	maps.DeleteFunc(set, func(_ string, wanted bool) bool { return !wanted })
	return slices.Sorted(maps.Keys(set))
}

// hold chooses a cgroup or RLIMIT_NPROC for controller c. It returns "", or the reason why neither can hold it.
func (l *Limits) hold(c string) string {
	if slices.ContainsFunc(l.homes, func(h home) bool { return slices.Contains(h.controllers, c) }) {
		return ""
	}
	reason := "no " + c + " cgroup here can be written"
	if c != "pids" {
		return reason
	}
	if why := whyNoProcessLimit(os.Geteuid(), KernelRelease()); why != "" {
		return reason + ", and " + why
	}
	l.nproc = uint64(l.policy.Pids) + ownProcesses
	return ""
}

func (l *Limits) skip(c, reason string) {
	l.skipped = append(l.skipped, "limits."+c+": "+reason)
}

func unsupportedError(p policy.Limits, c, source, reason string) error {
	value := map[string]string{
		"memory": p.Memory.String(), "pids": strconv.Itoa(p.Pids), "cpu": strconv.FormatFloat(p.CPU, 'g', -1, 64),
	}[c]
	return sandbox.Errorf(sandbox.Unsupported, "limits.%s of %s (%s) cannot be held: %s", c, value, source, reason).
		WithHint("%s, or drop the limit", DelegateFix)
}

// DelegateFix explains how a plain user gets a cgroup with all controllers.
const DelegateFix = "start under 'systemd-run --user --scope -p Delegate=yes'"

// Attach sets the limits on childPid, the first process of the sandbox's PID namespace, which must not have started
// anything yet. Its parent bubblewrap, bwrapPid, stays outside: it reports the exit status, so no limit may kill it.
func (l *Limits) Attach(bwrapPid, childPid int) error {
	if childPid <= 0 || childPid == bwrapPid || childPid == os.Getpid() {
		return fmt.Errorf("process %d is not the first process of a sandbox", childPid)
	}
	if err := rlimit.SuppressCore(childPid); err != nil {
		return fmt.Errorf("RLIMIT_CORE: %w", err)
	}
	if size := l.policy.File; size > 0 {
		if err := rlimit.Lower(childPid, unix.RLIMIT_FSIZE, uint64(size)); err != nil {
			return fmt.Errorf("RLIMIT_FSIZE: %w", err)
		}
	}
	if l.nproc > 0 {
		if err := rlimit.Lower(childPid, unix.RLIMIT_NPROC, l.nproc); err != nil {
			return fmt.Errorf("RLIMIT_NPROC: %w", err)
		}
	}
	for _, h := range l.homes {
		if err := l.attachCgroup(h, childPid); err != nil {
			return err
		}
	}
	return nil
}

// attachCgroup creates a cgroup in h, sets its limits and moves pid into it.
func (l *Limits) attachCgroup(h home, pid int) error {
	group, err := makeCgroup(h)
	if err == nil {
		l.made = append(l.made, group)
		for _, c := range h.controllers {
			err = errors.Join(err, l.set(group, c))
		}
		if err == nil {
			err = group.add(pid)
		}
	}
	if err != nil {
		return fmt.Errorf("limits.%s: %w", strings.Join(h.controllers, ", limits."), err)
	}
	return nil
}

// set writes the limit of controller c.
func (l *Limits) set(group *cgroupDir, c string) error {
	if c == "memory" {
		l.memory = group
	}
	for _, s := range limitSettings(l.policy, c, group.unified) {
		err := writeFile(group.dir, s.file, s.value)
		if s.maybe && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s of %s: %w", s.file, s.value, err)
		}
	}
	return nil
}

// limitSetting is one write to a cgroup's file.
type limitSetting struct {
	file, value string
	maybe       bool // kernels may lack the file
}

// limitSettings are the writes, in order, that limit controller c.
func limitSettings(p policy.Limits, c string, unified bool) []limitSetting {
	memory := strconv.FormatInt(int64(p.Memory), 10)
	quota, period := cpuShare(p.CPU)
	switch {
	case c == "pids":
		return []limitSetting{{"pids.max", strconv.Itoa(p.Pids + ownProcesses), false}}
	case c == "memory" && unified:
		return []limitSetting{{"memory.max", memory, false}, {"memory.swap.max", "0", true}}
	case c == "memory":
		// Memory with swap may not be below memory alone, so it comes second.
		return []limitSetting{{"memory.limit_in_bytes", memory, false}, {"memory.memsw.limit_in_bytes", memory, true}}
	case unified:
		return []limitSetting{{"cpu.max", quota + " " + period, false}}
	}
	return []limitSetting{{"cpu.cfs_period_us", period, false}, {"cpu.cfs_quota_us", quota, false}}
}

// cpuShare turns a number of processors into a quota and a period, in
// microseconds. The kernel takes no quota under 1 ms and no period over 1 s.
func cpuShare(cpu float64) (quota, period string) {
	us := 100_000
	if cpu*float64(us) < 1000 {
		us = 1_000_000
	}
	return strconv.Itoa(max(1000, int(cpu*float64(us)))), strconv.Itoa(us)
}

// Reason returns the limit that killed a process, or "" if none did. Call it after all processes have ended and before
// Close.
func (l *Limits) Reason() string {
	if l.memory == nil {
		return ""
	}
	file := "memory.oom_control"
	if l.memory.unified {
		file = "memory.events"
	}
	if l.memory.counter(file, "oom_kill") == 0 {
		return ""
	}
	return "memory limit of " + l.policy.Memory.String()
}

// Close kills the processes that are still in the cgroups and removes the cgroups. It is idempotent, and the limits may be
// attached again afterwards.
func (l *Limits) Close() error {
	var errs []error
	for _, group := range l.made {
		if err := group.remove(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", filepath.Base(group.dir), err))
		}
	}
	l.made, l.memory = nil, nil
	return errors.Join(errs...)
}
