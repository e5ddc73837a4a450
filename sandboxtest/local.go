package sandboxtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Local is a Harness for a driver whose sandboxes are processes of this host. Its
// residue is the children of this process, its mounts and descriptors, and the
// entries of os.TempDir and of the data directories.
type Local struct {
	Backend sandbox.Driver // the driver under test
	Base    string         // existing directory for workspaces, outside /tmp and /var/tmp; empty: os.TempDir
	Data    []string       // directories of the driver's own, listed as residue; they need not exist

	Resident bool // the sandboxes are resident
}

// Driver returns Backend.
func (l Local) Driver() sandbox.Driver { return l.Backend }

// Dir makes a directory in Base.
func (l Local) Dir() (string, func() error, error) {
	dir, err := os.MkdirTemp(l.Base, "sandboxtest-")
	if err != nil {
		return "", nil, err
	}
	remove := func() error { return os.RemoveAll(dir) }
	real, err := filepath.EvalSymlinks(dir)
	return real, remove, err
}

// Spec makes dir writable.
func (l Local) Spec(dir string) sandbox.Spec {
	return sandbox.Spec{
		Workspace: dir,
		Resident:  l.Resident,
		Env:       []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		Policy:    sandbox.Policy{Filesystem: sandbox.Filesystem{RW: []string{dir}}},
	}
}

// Residue reads /proc.
func (l Local) Residue(context.Context) ([]string, error) {
	lines, err := mountLines()
	if err != nil {
		return nil, err
	}
	children, err := descendants()
	if err != nil {
		return nil, err
	}
	lines = append(lines, children...)
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, err
	}
	for _, fd := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil {
			// The number in pipe:[n] differs each time; only the number of pipes is compared.
			kind, _, _ := strings.Cut(to, ":[")
			lines = append(lines, "descriptor "+kind)
		}
	}
	for _, dir := range append([]string{os.TempDir()}, l.Data...) {
		entries, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for _, e := range entries {
			lines = append(lines, "file "+filepath.Join(dir, e.Name()))
		}
	}
	return lines, nil
}

func mountLines() ([]string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 4 {
			lines = append(lines, "mount "+f[4])
		}
	}
	return lines, nil
}

// descendants lists the living processes below this one, and its zombies.
func descendants() ([]string, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	parent, name := map[int]int{}, map[int]string{}
	for _, file := range stats {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		pid, ppid, comm, err := parseStat(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		parent[pid], name[pid] = ppid, comm
	}
	var lines []string
	for pid := range parent {
		for p, depth := parent[pid], 0; p > 1 && depth < len(parent); p, depth = parent[p], depth+1 {
			if p == os.Getpid() {
				lines = append(lines, "process "+name[pid])
				break
			}
		}
	}
	return lines, nil
}

// parseStat reads the start of proc_pid_stat(5). The name may hold spaces and
// parentheses.
func parseStat(data []byte) (pid, ppid int, comm string, err error) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 1 || end < open {
		return 0, 0, "", fmt.Errorf("no name in %q", data)
	}
	rest := strings.Fields(string(data[end+1:]))
	if len(rest) < 2 {
		return 0, 0, "", fmt.Errorf("no parent in %q", data)
	}
	if pid, err = strconv.Atoi(strings.TrimSpace(string(data[:open]))); err != nil {
		return 0, 0, "", err
	}
	ppid, err = strconv.Atoi(rest[1])
	return pid, ppid, string(data[open+1 : end]), err
}
