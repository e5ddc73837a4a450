package session

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
)

// acceptPause is the time for which a listener waits after it ran out of descriptors.
const acceptPause = 50 * time.Millisecond

// relaying are the guest's ends of relays.
type relaying struct {
	mux   *mux.Session
	ctx   context.Context //nolint:containedctx // ends with the session, which owns this
	all   sync.WaitGroup
	slots chan struct{}
	at    loopback

	redirects *redirecting // nil: no connections are redirected
}

func newRelaying(ctx context.Context, m *mux.Session, at loopback) *relaying {
	return &relaying{mux: m, ctx: ctx, slots: make(chan struct{}, maxRelayed), at: at}
}

// loopback is [Options].Loopback.
type loopback func(port uint16) (net.Listener, error)

// listen starts all relays, or returns an error and starts none.
func (r *relaying) listen(list []Relay) error {
	var open []net.Listener
	for _, one := range list {
		l, err := r.at.listen(r.ctx, one)
		if err != nil {
			for _, l := range open {
				_ = l.Close()
			}
			return err
		}
		open = append(open, l)
	}
	for i, l := range open {
		context.AfterFunc(r.ctx, func() { _ = l.Close() })
		r.all.Go(func() { r.accept(l, list[i].Name) })
	}
	return nil
}

// listen listens inside: with at, or with the kernel's network if at is nil.
func (at loopback) listen(ctx context.Context, r Relay) (net.Listener, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	t := r.address()
	if t.Network == "tcp" && at != nil {
		l, err := at(netip.MustParseAddrPort(t.Addr).Port()) // checked
		if _, kernels := errors.AsType[syscall.Errno](err); kernels {
			err = socketError(r.Listen, err)
		}
		return l, err
	}
	if info, err := os.Lstat(t.Addr); t.Network == "unix" && err == nil && info.Mode().Type() == fs.ModeSocket {
		_ = os.Remove(t.Addr) // left by a guest that was killed; if it remains, Listen fails
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, t.Network, t.Addr)
	if err != nil {
		return nil, socketError(r.Listen, err)
	}
	if t.Network == "unix" { // for all users inside, like a port
		if err := os.Chmod(t.Addr, 0o666); err != nil {
			_ = l.Close()
			return nil, socketError(r.Listen, err)
		}
	}
	return l, nil
}

// accept forwards the connections of one relay until the session ends. Connections above the limit wait in the kernel's queue.
func (r *relaying) accept(l net.Listener, name string) {
	for {
		select {
		case r.slots <- struct{}{}:
		case <-r.ctx.Done():
			return
		}
		conn, err := l.Accept()
		if err == nil {
			r.all.Go(func() {
				defer func() { <-r.slots }()
				r.carry(conn, name)
			})
			continue
		}
		<-r.slots
		if errors.Is(err, net.ErrClosed) {
			return
		}
		// The error is temporary: commands hold resources that accept needs.
		pause := time.NewTimer(acceptPause)
		select {
		case <-pause.C:
		case <-r.ctx.Done():
			pause.Stop()
			return
		}
	}
}

func (r *relaying) carry(inside net.Conn, name string) {
	to, redirected := r.destination(inside, name) // also after an error, so that it is not expected any more
	s, err := r.mux.Open()
	switch {
	case err != nil:
	case redirected:
		err = writeJSON(s, frameRedirected, redirectedTo{name, to})
	default:
		err = writeFrame(s, frameRelay, []byte(name))
	}
	if err != nil {
		_ = inside.Close()
		return
	}
	defer context.AfterFunc(r.ctx, func() { _ = inside.Close() })()
	join(newConn(s, relayAddr(name), func() {}), inside)
}
