package docker

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"
)

// outlive sees to it that the container ends with the session even when there is no engine that could end it: one that
// is killed leaves its containers running, with their input held open by containerd's shim. It does what it can: where
// the engine is another machine's, or its processes another user's, they end when an engine is started there again.
func (i *instance) outlive(ctx context.Context, h holding) {
	found, err := i.engine.ContainerInspect(ctx, h.container, client.ContainerInspectOptions{})
	if err != nil || found.Container.State == nil || found.Container.State.Pid <= 1 {
		return
	}
	pid := found.Container.State.Pid
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	// The number is the engine's; on this machine it may be anybody's.
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil || !strings.Contains(string(groups), h.container) {
		_ = unix.Close(fd)
		return
	}
	go func() {
		<-h.session.Done()
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // it has ended, or is not ours to end
		_ = unix.Close(fd)
	}()
}
