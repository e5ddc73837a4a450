//go:build linux

package limits

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cgroupPrefix begins the names of our cgroups. The PID namespace, the owner's PID and start time, and random
// characters follow.
const cgroupPrefix = "agent-sandbox."

// drainTime bounds how long Close waits for processes that it has killed.
const drainTime = 5 * time.Second

// cgroupDir is a cgroup that this process has created.
type cgroupDir struct {
	dir     string
	unified bool
	first   *os.File // pidfd of the process that was added, or nil
}

// makeCgroup creates a cgroup in h with h's controllers.
func makeCgroup(h home) (*cgroupDir, error) {
	for _, c := range h.enable {
		if err := writeFile(h.dir, "cgroup.subtree_control", "+"+c); err != nil {
			return nil, err
		}
	}
	owner, err := ownerName()
	if err != nil {
		return nil, err
	}
	var random [6]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, err
	}
	dir := filepath.Join(h.dir, owner+"."+hex.EncodeToString(random[:]))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	return &cgroupDir{dir: dir, unified: h.unified}, nil
}

// ownerName returns the part of a cgroup's name that identifies this process.
func ownerName() (string, error) {
	ns, err := pidNamespace()
	if err != nil {
		return "", err
	}
	start, err := startTime(os.Getpid())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%s.%d.%s", cgroupPrefix, ns, os.Getpid(), start), nil
}

// pidNamespace returns the number of this process's PID namespace. A container that shares the hierarchy has other PIDs.
func pidNamespace() (string, error) {
	link, err := os.Readlink("/proc/self/ns/pid")
	return strings.Trim(link, "pid:[]"), err
}

// startTime returns when a process began, in clock ticks since boot (field 22 of proc_pid_stat(5)). It distinguishes two
// processes with the same PID.
func startTime(pid int) (string, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", err
	}
	// The second field is the program's name, which may hold anything.
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 20 {
		return "", fmt.Errorf("process %d: no start time", pid)
	}
	return fields[19], nil
}

// add moves a process with all its threads into the cgroup, and may be called once per cgroup.
func (c *cgroupDir) add(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	c.first = os.NewFile(uintptr(fd), "pidfd")
	return writeFile(c.dir, "cgroup.procs", strconv.Itoa(pid))
}

// counter returns the number after key in a file of "key number" lines, 0 if there is none.
func (c *cgroupDir) counter(name, key string) int64 {
	b, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), " "); ok && k == key {
			n, _ := strconv.ParseInt(v, 10, 64)
			return n
		}
	}
	return 0
}

// remove kills the processes that are left in the cgroup and removes it. A second call does nothing.
func (c *cgroupDir) remove() error {
	defer c.forget()
	deadline := time.Now().Add(drainTime)
	for {
		err := unix.Rmdir(c.dir)
		if err == nil || errors.Is(err, unix.ENOENT) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) {
			return &os.PathError{Op: "rmdir", Path: c.dir, Err: err}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("cgroup %s: processes do not end after SIGKILL", c.dir)
		}
		again, err := c.drain(deadline)
		if err != nil {
			return err
		}
		if !again {
			// The cgroup has no visible processes, but the kernel needs another moment, and version 1 has no event for it. The next run's
			// sweep removes the cgroup.
			return nil
		}
	}
}

// drain kills the cgroup's processes and waits for their end. It reports whether there was anything to wait for.
func (c *cgroupDir) drain(deadline time.Time) (bool, error) {
	if c.unified {
		// Kill all at once, so that no process escapes by forking. Kernels before 5.14 lack the file.
		_ = writeFile(c.dir, "cgroup.kill", "1")
	}
	waited := false
	for _, word := range readWords(c.dir, "cgroup.procs") {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return false, fmt.Errorf("cgroup %s: process %q", c.dir, word)
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			waited = true // it ended meanwhile
			continue
		}
		// Another process may have got the PID before it was opened.
		if b, err := os.ReadFile("/proc/" + word + "/cgroup"); err == nil && strings.Contains(string(b), filepath.Base(c.dir)) {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			awaitFd(fd, unix.POLLIN, deadline)
		}
		_ = unix.Close(fd)
		waited = true
	}
	switch {
	case waited:
		return true, nil
	case c.first != nil:
		// Version 1 no longer lists a process that is freeing its memory, although it
		// still counts. The first one of a PID namespace ends after all others.
		awaitFd(int(c.first.Fd()), unix.POLLIN, deadline)
		c.forget()
		return true, nil
	case c.unified:
		return true, c.awaitEmpty(deadline)
	}
	return false, nil
}

// forget closes the pidfd.
func (c *cgroupDir) forget() {
	if c.first != nil {
		_ = c.first.Close()
		c.first = nil
	}
}

// awaitEmpty waits until cgroup.events reports that no process is left.
func (c *cgroupDir) awaitEmpty(deadline time.Time) error {
	events, err := os.Open(filepath.Join(c.dir, "cgroup.events"))
	if err != nil {
		return err
	}
	defer events.Close()
	// Opened before it is read, so that a change in between wakes us.
	if c.counter("cgroup.events", "populated") == 0 {
		return nil
	}
	awaitFd(int(events.Fd()), unix.POLLPRI, deadline)
	return nil
}

// awaitFd waits for an event on fd until deadline.
func awaitFd(fd int, event int16, deadline time.Time) {
	for {
		left := time.Until(deadline)
		if left <= 0 {
			return
		}
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: event}}, int(left/time.Millisecond)+1)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// sweep removes the empty cgroups in dir whose owner was killed before it could remove them.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	ns, err := pidNamespace()
	if err != nil {
		return
	}
	for _, e := range entries {
		name, ours := strings.CutPrefix(e.Name(), cgroupPrefix+ns+".")
		parts := strings.Split(name, ".")
		if !ours || len(parts) != 3 {
			continue
		}
		pid, err := strconv.Atoi(parts[0])
		if err != nil {
			continue
		}
		if start, err := startTime(pid); err == nil && start == parts[1] {
			continue
		}
		// Rmdir fails for those with processes, which stay.
		_ = unix.Rmdir(filepath.Join(dir, e.Name()))
	}
}

func writeFile(dir, name, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
