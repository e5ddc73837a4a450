//go:build linux

package bwrap

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

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// ownProcesses is how many processes inside are not the command's: bubblewrap's
// first process, which reaps.
const ownProcesses = 1

// limits holds the memory, file, pids and cpu limits of one command. The others are
// held elsewhere: wall and output by package sandbox, tmp by the mount.
type limits struct {
	policy  policy.Limits
	homes   []home
	nproc   uint64   // RLIMIT_NPROC, or 0
	skipped []string // optional limits that this host cannot hold, with the reason
	made    []*cgroupDir
	memory  *cgroupDir // the one of made that counts memory, or nil
}

// newLimits decides how each limit is held, and refuses with Unsupported when a
// required one cannot be. It makes nothing, except that it removes cgroups which killed
// runs left. The caller closes it.
func newLimits(p policy.Limits) (*limits, error) {
	l := &limits{policy: p}
	// Only for limits that somebody asked for: moving a process into a cgroup
	// waits for an RCU grace period, some 13 ms, more than all the rest of a start.
	want := slices.DeleteFunc(wantedControllers(p), func(c string) bool { return p.Required[c] == "" })
	for _, c := range wantedControllers(p) {
		if p.Required[c] == "" {
			l.optional(c)
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
		reason := l.unheld(c)
		if reason == "" {
			continue
		}
		return nil, limitRefused(p, c, p.Required[c], reason)
	}
	return l, nil
}

// optional holds a limit that only the defaults ask for where that costs nothing,
// which is the number of processes of a plain user.
func (l *limits) optional(c string) {
	why := "a default is not worth a cgroup"
	if c == "pids" {
		why = processLimitHolds(os.Geteuid(), kernelRelease())
	}
	if why != "" {
		l.skip(c, why)
		return
	}
	l.nproc = uint64(l.policy.Pids) + ownProcesses
}

// wantedControllers are the cgroup controllers, which have the names of limits.
func wantedControllers(p policy.Limits) []string {
	set := map[string]bool{"memory": p.Memory > 0, "pids": p.Pids > 0, "cpu": p.CPU > 0}
	maps.DeleteFunc(set, func(_ string, asked bool) bool { return !asked })
	return slices.Sorted(maps.Keys(set))
}

// unheld finds what holds controller c and returns "", or why nothing does.
func (l *limits) unheld(c string) string {
	if slices.ContainsFunc(l.homes, func(h home) bool { return slices.Contains(h.controllers, c) }) {
		return ""
	}
	reason := "no " + c + " cgroup here can be written"
	if c != "pids" {
		return reason
	}
	if why := processLimitHolds(os.Geteuid(), kernelRelease()); why != "" {
		return reason + ", and " + why
	}
	l.nproc = uint64(l.policy.Pids) + ownProcesses
	return ""
}

func (l *limits) skip(c, reason string) {
	l.skipped = append(l.skipped, "limits."+c+": "+reason)
}

func limitRefused(p policy.Limits, c, source, reason string) error {
	value := map[string]string{
		"memory": p.Memory.String(), "pids": strconv.Itoa(p.Pids), "cpu": strconv.FormatFloat(p.CPU, 'g', -1, 64),
	}[c]
	return sandbox.Errorf(sandbox.Unsupported, "limits.%s of %s (%s) cannot be held: %s", c, value, source, reason).
		WithHint("%s, or drop the limit", delegateFix)
}

// delegateFix gives a plain user a cgroup with all controllers.
const delegateFix = "start under 'systemd-run --user --scope -p Delegate=yes'"

// attach puts the limits on childPid, the first process of the sandbox's PID
// namespace, before it goes on to start anything. Its parent bubblewrap, bwrapPid,
// stays outside, so that the limits never kill what reports the exit status.
func (l *limits) attach(bwrapPid, childPid int) error {
	if childPid <= 0 || childPid == bwrapPid || childPid == os.Getpid() {
		return fmt.Errorf("process %d is not the sandbox's", childPid)
	}
	if err := suppressCore(childPid); err != nil {
		return err
	}
	if size := l.policy.File; size > 0 {
		if err := lowerLimit(childPid, unix.RLIMIT_FSIZE, uint64(size)); err != nil {
			return fmt.Errorf("RLIMIT_FSIZE: %w", err)
		}
	}
	if l.nproc > 0 {
		if err := lowerLimit(childPid, unix.RLIMIT_NPROC, l.nproc); err != nil {
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

// attachCgroup makes a cgroup in h, sets its limits and moves pid into it.
func (l *limits) attachCgroup(h home, pid int) error {
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
func (l *limits) set(group *cgroupDir, c string) error {
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

// reason says which limit killed a process, or "" when none did. It is asked
// when everything has ended, before close.
func (l *limits) reason() string {
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

// close removes the cgroups; processes still in them are killed. It is
// idempotent, and the limits may be attached again afterwards.
func (l *limits) close() error {
	var errs []error
	for _, group := range l.made {
		if err := group.remove(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", filepath.Base(group.dir), err))
		}
	}
	l.made, l.memory = nil, nil
	return errors.Join(errs...)
}
