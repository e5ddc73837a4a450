//go:build linux

package persistent_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// process is a process of this place that is not a zombie.
type process struct {
	pid  int
	args string
}

// processes returns the processes with the mark in their environment or arguments, and those that hold
// a container.
func (p *place) processes() []process {
	var out []process
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if pid == os.Getpid() {
			continue
		}
		env, _ := os.ReadFile(dir + "/environ")
		args, _ := os.ReadFile(dir + "/cmdline")
		if !bytes.Contains(env, []byte(p.mark)) && !bytes.Contains(args, []byte(p.mark)) && !p.holds(args) {
			continue
		}
		out = append(out, process{pid, string(bytes.ReplaceAll(args, []byte{0}, []byte{' '}))})
	}
	return out
}

func (p *place) holds(args []byte) bool {
	for id := range p.containers {
		if bytes.Contains(args, []byte(id)) {
			return true
		}
	}
	return false
}

// find returns the process whose arguments contain all these words.
func (p *place) find(words ...string) int {
	for _, one := range p.processes() {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(one.args, w) }) {
			return one.pid
		}
	}
	return 0
}

// quiet waits until no process is left, and returns the remaining ones.
func (p *place) quiet(wait time.Duration) []process {
	end := time.Now().Add(wait)
	for {
		left := p.processes()
		if len(left) == 0 || time.Now().After(end) {
			return left
		}
		fd, err := unix.PidfdOpen(left[0].pid, 0)
		if err != nil {
			continue // it has ended meanwhile
		}
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(time.Until(end)/time.Millisecond)+1)
		_ = unix.Close(fd)
	}
}

// residue returns all remains of this place except processes.
func (p *place) residue(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, table := range []string{"/proc/self/mountinfo", "/proc/net/unix"} {
		data, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			if strings.Contains(line, p.base) {
				out = append(out, filepath.Base(table)+": "+line)
			}
		}
	}
	err := filepath.WalkDir(p.base, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			out = append(out, strings.TrimPrefix(path, p.base))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	groups, _ := filepath.Glob("/sys/fs/cgroup/*/agent-sandbox.*")
	for _, g := range groups {
		if info, err := os.Stat(g); err == nil && time.Since(info.ModTime()) < time.Hour {
			out = append(out, "cgroup "+g)
		}
	}
	switch {
	case p.alone:
		for _, kind := range [][]string{{"ps", "-aq", "--no-trunc"}, {"volume", "ls", "-q"}, {"network", "ls", "-q", "--no-trunc"}, {"images", "-aq", "--no-trunc"}} {
			out = append(out, p.docker(t, kind...)...)
		}
	case p.host != "": // other tests use it, too
		ours := "label=agent-sandbox.workspace=" + p.work
		out = append(out, p.docker(t, "ps", "-aq", "--no-trunc", "--filter", ours)...)
		out = append(out, p.docker(t, "images", "--no-trunc", "--filter", ours, "--format", "{{.Repository}}:{{.Tag}}@{{.ID}}")...)
	}
	slices.Sort(out)
	return out
}

// docker runs the engine's client, and returns the words of its output.
func (p *place) docker(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "docker", args...)
	cmd.Env = p.env
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("docker %q: %v: %s", args, err, exit.Stderr)
		}
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// note records the containers of the place.
func (p *place) note(t *testing.T) []string {
	t.Helper()
	if p.host == "" {
		return nil
	}
	ids := p.docker(t, "ps", "-aq", "--no-trunc", "--filter", "label=agent-sandbox.workspace="+p.work)
	for _, id := range ids {
		p.containers[id] = true
	}
	return ids
}
