package docker

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/moby/moby/api/types/mount"

	"github.com/seed434b0696/agent-sandbox/backend/docker/guestsocket"
	"github.com/seed434b0696/agent-sandbox/backend/docker/owner"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
)

const (
	stateSocketDir = "door"  // in the State of a persistent sandbox
	socketsDir     = "doors" // of the other sandboxes, a directory each
)

// socketDir returns the directory of the guest's socket. For a persistent sandbox it is always the same one, because it is
// part of the container's configuration; otherwise its name contains its owner.
func (p *prepared) socketDir() string {
	if p.state.isPersistent() {
		return filepath.Join(p.state.dir, stateSocketDir)
	}
	return p.driver.dir(socketsDir, owner.Process(os.Getpid())+" "+p.id)
}

// openSocket listens for the guest. It returns nil where the engine's containers run on another kernel, from which no
// socket of this one can be reached. The caller closes it.
func (p *prepared) openSocket() (*guestsocket.Socket, error) {
	if !p.sameKernel {
		return nil, nil //nolint:nilnil // a nil Socket is valid
	}
	return guestsocket.Open(p.socketDir())
}

// socketMounts shows the socket inside.
func socketMounts(s *guestsocket.Socket) []mount.Mount {
	if s == nil {
		return nil
	}
	return []mount.Mount{bind(s.Path(), layout.SessionSocket, true)}
}

// sweepSockets removes the sockets of processes that have ended. The next sweep retries those that cannot be removed.
func (d *Driver) sweepSockets() {
	entries, err := os.ReadDir(d.dir(socketsDir))
	if err != nil {
		return
	}
	for _, e := range entries {
		if owned := e.Name()[:max(0, strings.LastIndexByte(e.Name(), ' '))]; owner.HasEnded(owned) {
			_ = os.RemoveAll(d.dir(socketsDir, e.Name()))
		}
	}
}
