package host

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// LimitNames lists the names of limits in flags and configuration.
var LimitNames = []string{"wall", "output", "memory", "tmp", "file", "disk", "nodes", "pids", "cpu"}

// LimitValue returns the text of a limit, or "" when it is not set.
func LimitValue(l sandbox.Limits, name string) string {
	switch {
	case name == "wall" && l.Wall > 0:
		return l.Wall.String()
	case name == "output" && l.Output > 0:
		return l.Output.String()
	case name == "memory" && l.Memory > 0:
		return l.Memory.String()
	case name == "tmp" && l.Tmp > 0:
		return l.Tmp.String()
	case name == "file" && l.File > 0:
		return l.File.String()
	case name == "disk" && l.Disk > 0:
		return l.Disk.String()
	case name == "nodes" && l.Nodes > 0:
		return strconv.Itoa(l.Nodes)
	case name == "pids" && l.Pids > 0:
		return strconv.Itoa(l.Pids)
	case name == "cpu" && l.CPU > 0:
		return strconv.FormatFloat(l.CPU, 'g', -1, 64)
	}
	return ""
}

// RequestLines returns a line for each request that is set.
func RequestLines(r sandbox.Requests) []string {
	lines := LimitLines(sandbox.Limits{Memory: r.Memory, CPU: r.CPU})
	for i := range lines {
		lines[i] = "request" + strings.TrimPrefix(lines[i], "limit")
	}
	return lines
}

// LimitLines returns a line for each limit that is set.
func LimitLines(l sandbox.Limits) []string {
	var out []string
	for _, name := range LimitNames {
		if v := LimitValue(l, name); v != "" {
			out = append(out, "limit: "+name+" = "+v)
		}
	}
	return out
}
