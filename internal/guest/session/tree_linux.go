package session

import (
	"bytes"
	"os"
	"strconv"
)

// entry is a process as /proc shows it. Its number and start identify it also after another process has got the number.
type entry struct {
	pid    int
	start  string // in clock ticks since boot
	parent int
	state  byte
}

// identity identifies a process for as long as this system runs.
type identity struct {
	pid   int
	start string
}

func (e entry) identity() identity { return identity{e.pid, e.start} }

// processTree reads all processes from /proc, by their parents. complete is false if a process has ended meanwhile.
func processTree() (children map[int][]entry, complete bool) {
	children, complete = map[int][]entry{}, true
	for _, pid := range numbers("/proc") {
		e, ok := readEntry("/proc/"+strconv.Itoa(pid)+"/stat", pid)
		if !ok {
			complete = false
			continue
		}
		children[e.parent] = append(children[e.parent], e)
	}
	return children, complete
}

// numbers returns the numbers among the names in a directory; nil if it cannot be read.
func numbers(path string) []int {
	dir, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // use the entries that could be read
	var list []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// readEntry reads the stat file of a process or a thread. False: it has ended.
func readEntry(path string, pid int) (entry, bool) {
	stat, err := os.ReadFile(path)
	if err != nil {
		return entry{}, false
	}
	return parseEntry(stat, pid)
}

// parseEntry parses /proc/PID/stat (proc_pid_stat(5)). The fields follow the command's name, which is in parentheses and may
// contain any character.
func parseEntry(stat []byte, pid int) (entry, bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return entry{}, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 20 {
		return entry{}, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return entry{pid: pid, start: string(fields[19]), parent: parent, state: fields[0][0]}, err == nil
}
