//go:build linux

package bwrap

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// mounted is one line of /proc/self/mountinfo.
type mounted struct {
	device string // "8:1"
	root   string // what of the file system is mounted
	point  string // where
}

// checkAliases refuses a plan that makes the workspace writable by another path than
// its own, where a second mount shows it: there the stage does not cover it.
func checkAliases(plan *policy.Plan) error {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return sandbox.Errorf(sandbox.Unavailable, "the mounts of this system cannot be read: %w", err)
	}
	for _, alias := range aliases(parseMounts(string(text)), plan.Workspace) {
		writable, _ := plan.Access(alias)
		open := writable == policy.ReadWrite
		for _, m := range plan.Mounts {
			open = open || m.Access == policy.ReadWrite && below(m.Path, alias)
		}
		if open {
			return sandbox.Errorf(sandbox.Unsupported, "the workspace is mounted a second time at %s, where commands may write", alias).
				WithHint("leave that path out of --rw, or run without --stage")
		}
	}
	return nil
}

// aliases are the other paths by which dir, or a part of it, can be reached.
func aliases(mounts []mounted, dir string) []string {
	own := -1
	for i, m := range mounts { // of two at one point the later one is on top
		if below(dir, m.point) && (own < 0 || len(m.point) >= len(mounts[own].point)) {
			own = i
		}
	}
	if own < 0 {
		return nil
	}
	inside := filepath.Join(mounts[own].root, strings.TrimPrefix(dir, mounts[own].point))
	var out []string
	for i, m := range mounts {
		if i == own || m.device != mounts[own].device {
			continue
		}
		path := m.point
		switch {
		case below(inside, m.root):
			path = filepath.Join(m.point, strings.TrimPrefix(inside, m.root))
		case !below(m.root, inside):
			continue
		}
		if !below(path, dir) {
			out = append(out, path)
		}
	}
	return out
}

func parseMounts(text string) []mounted {
	var out []mounted
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 4 {
			out = append(out, mounted{device: f[2], root: unescape(f[3]), point: unescape(f[4])})
		}
	}
	return out
}

// unescape undoes the octal escapes of proc_pid_mountinfo(5).
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
