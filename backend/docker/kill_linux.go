package docker

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"
)

// killWithSession kills the container's first process when the session ends, also without a running engine: a killed engine
// leaves its containers running, whose input containerd's shim keeps open. Where the engine runs on another machine, or
// its processes belong to another user, they end when the engine is started again.
func (i *instance) killWithSession(ctx context.Context, h holding) {
	found, err := i.engine.ContainerInspect(ctx, h.container, client.ContainerInspectOptions{})
	if err != nil || found.Container.State == nil || found.Container.State.Pid <= 1 {
		return
	}
	pid := found.Container.State.Pid
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	// The PID is the engine's; on this machine it may be another process.
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil || !strings.Contains(string(groups), h.container) {
		_ = unix.Close(fd)
		return
	}
	go func() {
		<-h.session.Done()
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // it has ended, or belongs to another user
		_ = unix.Close(fd)
	}()
}
