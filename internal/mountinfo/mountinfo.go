// Package mountinfo reads the mounts of a process, as proc_pid_mountinfo(5) describes them.
package mountinfo

import (
	"os"
	"strconv"
	"strings"
)

// Mount is one line of mountinfo.
type Mount struct {
	Device  string   // major:minor, such as "8:1"
	Root    string   // the path within the file system that is mounted
	Point   string   // the path at which it is mounted
	Type    string   // of the file system, such as "ext4"; empty when the line is cut
	Options []string // of the super block
}

// Self reads the mounts of this process, in the order in which they were mounted.
func Self() ([]Mount, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return Parse(string(text)), nil
}

// Parse reads the text of a mountinfo file. It skips lines that are too short.
func Parse(text string) []Mount {
	var out []Mount
	for line := range strings.Lines(text) {
		left, right, _ := strings.Cut(line, " - ")
		f, super := strings.Fields(left), strings.Fields(right)
		if len(f) < 5 {
			continue
		}
		m := Mount{Device: f[2], Root: unescape(f[3]), Point: unescape(f[4])}
		if len(super) > 0 {
			m.Type = super[0]
		}
		if len(super) > 2 {
			m.Options = strings.Split(super[2], ",")
		}
		out = append(out, m)
	}
	return out
}

// unescape replaces octal escapes such as \040 by their bytes.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
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
