//go:build linux

package bwrap

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// attempts is how often bubblewrap is started for one command. It reads which mounts there are and then changes each
// (--ro-bind of a directory with mounts below it): one that somebody on the host unmounts in between makes it fail.
const attempts = 4

// mountTable tells whether the host's mounts have changed since it was opened, as the kernel tells pollers of
// /proc/self/mountinfo (proc_pid_mountinfo(5)). -1: nobody knows.
type mountTable int

func openMountTable() mountTable {
	fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return mountTable(fd)
}

// changed is false when nobody knows.
func (m mountTable) changed() bool {
	poll := []unix.PollFd{{Fd: int32(m), Events: unix.POLLPRI}}
	n, err := unix.Poll(poll, 0) // a negative descriptor is passed over
	return err == nil && n > 0 && poll[0].Revents&(unix.POLLPRI|unix.POLLERR) != 0
}

func (m mountTable) close() {
	if m >= 0 {
		_ = unix.Close(int(m))
	}
}

// disturbed reports whether bubblewrap gave up while the host's mounts changed, of a process that has ended. The command
// has not run and will not: bubblewrap never took our leave. What was read of the command's input is not lost.
func (p *process) disturbed() bool {
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unbuilt && !p.feeds
}

// restarting is a command that is started again when bubblewrap failed only because the host's mounts changed.
type restarting struct {
	start func() (*process, error)

	once sync.Once // of Wait
	exit sandbox.Exit
	err  error

	mu     sync.Mutex
	now    *process
	killed bool
}

// Wait returns when everything is gone.
func (r *restarting) Wait() (sandbox.Exit, error) {
	r.once.Do(func() {
		p := r.now
		for left := attempts - 1; left > 0 && p.disturbed() && p.err != nil; left-- { // one that was killed has no error
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

// Signal sends sig to the command's process group; SIGKILL ends everything.
func (r *restarting) Signal(sig os.Signal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sig == unix.SIGKILL {
		r.killed = true
	}
	return r.now.Signal(sig)
}
