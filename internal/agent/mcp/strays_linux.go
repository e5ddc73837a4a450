package mcp

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// endTime is how long a killed process may take to exit; one that waits for a disk takes longer.
const endTime = 5 * time.Second

// strays holds process descriptors (pidfd_open(2)), so that a process that reuses a number is not killed.
type strays []int

// descendants returns the processes below one, as far as /proc shows them.
func descendants(root int) (out strays) {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc") // without /proc it finds none
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			parent := parentOf(pid)
			children[parent] = append(children[parent], pid)
		}
	}
	for next := []int{root}; len(next) > 0; next = next[1:] {
		for _, pid := range children[next[0]] {
			next = append(next, pid)
			if fd, err := unix.PidfdOpen(pid, 0); err == nil {
				out = append(out, fd)
			}
		}
	}
	return out
}

// parentOf reads the parent's number from /proc (proc(5)); 0: unknown.
func parentOf(pid int) int {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	rest := string(data)
	fields := strings.Fields(rest[strings.LastIndex(rest, ")")+1:]) // a name may contain any character
	if len(fields) < 2 {
		return 0
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return parent
}

// end kills the processes, waits for their exit, and closes the descriptors.
func (s strays) end() {
	for _, fd := range s {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
	until := time.Now().Add(endTime)
	for _, fd := range s {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for {
			_, err := unix.Poll(poll, int(max(0, time.Until(until).Milliseconds())))
			if !errors.Is(err, unix.EINTR) {
				break
			}
		}
		_ = unix.Close(fd)
	}
}
