package session

import (
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// oomKills counts the kills in a container, see [Options.Container].
func (s *runners) oomKills() (uint64, bool) {
	if !s.container {
		return 0, false
	}
	return oomKills()
}

// oomKills returns the number of processes that the kernel has killed because the container reached its memory limit;
// false: the number is not available. The container's own cgroup is at /sys/fs/cgroup.
func oomKills() (uint64, bool) {
	for _, name := range []string{"memory.events", "memory/memory.oom_control"} {
		data, err := os.ReadFile(path.Join(cgroups, name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if n, ok := strings.CutPrefix(line, "oom_kill "); ok {
				count, err := strconv.ParseUint(strings.TrimSpace(n), 10, 64)
				return count, err == nil
			}
		}
	}
	return 0, false
}

const cgroups = "/sys/fs/cgroup"

// oomReason returns a text that names the limit that has killed a process.
func oomReason() string {
	for _, name := range []string{"memory.max", "memory/memory.limit_in_bytes"} {
		data, err := os.ReadFile(path.Join(cgroups, name))
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
		if err == nil && n < 1<<60 { // otherwise the container has no own limit
			return "memory limit of " + sandbox.Bytes(n).String()
		}
	}
	return "memory limit"
}

// reason returns the reason for which a command was killed, or "". before is the result of oomKills at its start.
func (s *runners) reason(code int, before uint64) string {
	if code != 128+int(unix.SIGKILL) {
		return ""
	}
	if now, ok := s.oomKills(); !ok || now <= before {
		return ""
	}
	return oomReason()
}
