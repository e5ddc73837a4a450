//go:build linux

package bwrap

import (
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// attempts is the number of times that bubblewrap is started for one command. For a --ro-bind of a directory with mounts below
// it, bubblewrap reads the list of mounts and then changes each of them. It fails if another process unmounts one in between, or
// replaces a file that is to be mounted, as git and editors do when they write one.
const attempts = 4

// pin is a file that was opened to be mounted.
type pin struct {
	path string
	info os.FileInfo
}

// isReplaced reports whether another file, or none, has the path of one of pins.
func isReplaced(pins []pin) bool {
	return slices.ContainsFunc(pins, func(p pin) bool {
		now, err := os.Lstat(p.path)
		return err != nil || !os.SameFile(now, p.info)
	})
}

// mountTable detects changes of the host's mounts since it was opened, which the kernel reports to pollers of
// /proc/self/mountinfo (proc_pid_mountinfo(5)). -1: it could not be opened.
type mountTable int

func openMountTable() mountTable {
	fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return mountTable(fd)
}

// hasChanged reports whether mounts have changed; false if that is unknown.
func (m mountTable) hasChanged() bool {
	poll := []unix.PollFd{{Fd: int32(m), Events: unix.POLLPRI}}
	n, err := unix.Poll(poll, 0) // ignores a negative descriptor
	return err == nil && n > 0 && poll[0].Revents&(unix.POLLPRI|unix.POLLERR) != 0
}

func (m mountTable) close() {
	if m >= 0 {
		_ = unix.Close(int(m))
	}
}

// isDisturbed waits for the end and reports whether bubblewrap failed while the host's mounts or files changed, before the command ran
// and before any of its input was read, so that it can be started again.
func (p *process) isDisturbed() bool {
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unbuilt && !p.feeds
}

// restarting is a command that is started again when bubblewrap failed only because the host's mounts or files changed.
type restarting struct {
	start func() (*process, error)

	once sync.Once // Wait
	exit sandbox.Exit
	err  error

	mu     sync.Mutex
	now    *process
	killed bool
}

// Wait returns when all processes have ended.
func (r *restarting) Wait() (sandbox.Exit, error) {
	r.once.Do(func() {
		p := r.now
		for left := attempts - 1; left > 0 && p.isDisturbed() && p.err != nil; left-- { // after a kill err is nil
			next, err := r.start()
			if err != nil {
				r.err = err
				return
			}
			p = r.take(next)
		}
		r.exit, r.err = p.Wait()
	})
	return r.exit, r.err
}

func (r *restarting) take(p *process) *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.killed {
		p.kill()
	}
	r.now = p
	return p
}

// Signal sends sig to the command's process group; SIGKILL kills all processes.
func (r *restarting) Signal(sig os.Signal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sig == unix.SIGKILL {
		r.killed = true
	}
	return r.now.Signal(sig)
}
