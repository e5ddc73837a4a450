package session

import (
	"bytes"
	"os"
	"strconv"
)

// processTree reads the parents of all processes from /proc.
func processTree() map[int][]int {
	children := map[int][]int{}
	proc, err := os.Open("/proc")
	if err != nil {
		return children
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1) // use the entries that could be read
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has ended
		}
		if parent, ok := parentOf(stat); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	return children
}

// parentOf parses the parent's PID in /proc/PID/stat (proc_pid_stat(5)): the second field after the
// command's name, which is in parentheses and may contain any character.
func parentOf(stat []byte) (int, bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
