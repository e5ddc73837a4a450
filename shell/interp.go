package shell

import (
	"context"
	"io/fs"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/vfs"
)

// interp is a process that runs the shell language: everything that a fork copies.
type interp struct {
	m     *machine
	cred  vfs.Cred
	dir   string
	umask fs.FileMode
}

// abs returns path as seen from the root.
func (sh *interp) abs(path string) string {
	switch {
	case path == "" || path[0] == '/':
		return path
	case strings.HasSuffix(sh.dir, "/"):
		return sh.dir + path
	}
	return sh.dir + "/" + path
}

func (sh *interp) lookupEnv(string) (string, bool) { return "", false }

func (sh *interp) environ() []string { return nil }

func (sh *interp) stream(context.Context, int) any { return nil }

// enter takes a place in the process table.
func (m *machine) enter() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.live >= m.limits.Processes {
		return syscall.EAGAIN
	}
	m.live++
	return nil
}

func (m *machine) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live--
}
