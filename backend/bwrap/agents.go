//go:build linux

package bwrap

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/agentsocket"
	"github.com/seed434b0696/agent-sandbox/internal/gpgagent"
	"github.com/seed434b0696/agent-sandbox/internal/guard/planned"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/sshagent"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// agentDir is the directory, below agent-sandbox's data directory, of the sockets that are mounted into sandboxes.
const agentDir = "ssh-agents"

// staleAfter is the age of a socket that a killed process has left. No start takes so long.
const staleAfter = time.Hour

// agents serves parts of the user's agents to the commands of one isolation. A nil one is valid and serves nothing.
type agents struct {
	sockets  []agentSocket
	unlinked sync.Once
	cancel   context.CancelFunc
	served   sync.WaitGroup
}

// agentSocket is a socket that is served.
type agentSocket struct {
	path   string // on the host; bubblewrap mounts it, and then the name is removed
	inside string
}

// serveAgents serves until close; nil if the plan has no agent.
func (i *instance) serveAgents(ctx context.Context, plan *policy.Plan, r *planned.Reporter) (*agents, error) {
	if plan.SSHAgent == "" && plan.GPGAgent.Socket == "" {
		return nil, nil //nolint:nilnil // nil serves nothing, as its type documents
	}
	a := &agents{}
	ctx, a.cancel = context.WithCancel(context.WithoutCancel(ctx)) // close ends it, after the last command
	dial := func(socket string) func(context.Context) (net.Conn, error) {
		return func(ctx context.Context) (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "unix", socket) }
	}
	serve := func(inside string, serve func(net.Listener)) error {
		l, path, err := listenPrivately(filepath.Join(i.driver.options.DataDir, agentDir))
		if err != nil {
			return sandbox.Errorf(sandbox.Unavailable, "the socket of an agent: %w", err)
		}
		a.sockets = append(a.sockets, agentSocket{path, inside})
		a.served.Go(func() { serve(l) })
		return nil
	}
	var err error
	if plan.SSHAgent != "" {
		o := agentsocket.Options{Dial: dial(plan.SSHAgent), Refused: r.RefusedSSHAgent}
		err = serve(layout.SSHAgent, func(l net.Listener) { sshagent.Serve(ctx, l, o) })
	}
	if err == nil && plan.GPGAgent.Socket != "" {
		o := gpgagent.Options{Options: agentsocket.Options{Dial: dial(plan.GPGAgent.Socket), Refused: r.RefusedGPGAgent}, Session: plan.GPGAgent.Session}
		err = serve(layout.GnuPG+"/S.gpg-agent", func(l net.Listener) { gpgagent.Serve(ctx, l, o) })
	}
	if err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// list returns the sockets.
func (a *agents) list() []agentSocket {
	if a == nil {
		return nil
	}
	return a.sockets
}

// unlink removes the names of the sockets, which only their mounts need from now on.
func (a *agents) unlink() {
	if a == nil {
		return
	}
	a.unlinked.Do(func() {
		for _, s := range a.sockets {
			_ = os.Remove(s.path) // a later start removes what is left
		}
	})
}

// close ends all connections and goroutines and waits for them. It may be called again.
func (a *agents) close() {
	if a == nil {
		return
	}
	a.unlink()
	a.cancel()
	a.served.Wait()
}

// listenPrivately listens on a new socket in a directory that only this user can enter.
func listenPrivately(dir string) (net.Listener, string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", err
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, "", &os.PathError{Op: "open", Path: dir, Err: err}
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, "", err
	}
	if int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0 {
		return nil, "", sandbox.Errorf(sandbox.Denied, "%s is not a directory that only you can access", dir).WithHint("chmod 700 %s", dir)
	}
	removeStale(dir)
	name := rand.Text()
	// A socket's address is short (unix(7)), and the path of a home can be long.
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "/proc/self/fd/" + strconv.Itoa(fd) + "/" + name, Net: "unix"})
	if err != nil {
		return nil, "", err
	}
	l.SetUnlinkOnClose(false) // the descriptor has another number's directory by then
	return l, filepath.Join(dir, name), nil
}

// removeStale removes the sockets that killed processes have left. One that is in use has no name any more, or is new.
func removeStale(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode()&fs.ModeSocket != 0 && time.Since(info.ModTime()) > staleAfter {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return
			}
		}
	}
}
