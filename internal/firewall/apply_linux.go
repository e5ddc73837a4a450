package firewall

import (
	"context"
	"errors"
	"os"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Apply closes a network namespace, opens what the rules allow, and proves that the rest
// is closed. netns is /proc/PID/ns/net of a process in it; the caller closes it, and must
// not let anything hostile run there before Apply has returned.
//
// Names without an address, addresses that several names share, and GitHub's ranges when
// they cannot be fetched are warnings of the report; when nothing is left, everything is
// closed. Any error leaves everything closed, except Invalid and Unsupported (the rules,
// or a namespace that is our own), before which nothing was touched, and Unavailable:
// without root, or in a kernel without nf_tables, there may be no filter at all.
func Apply(ctx context.Context, netns *os.File, r Rules) (Report, error) {
	c, err := r.compile()
	if err != nil {
		return Report{}, err
	}
	if err := Close(netns); err != nil {
		return Report{}, err
	}
	return put(ctx, netns, r, c, &Report{})
}

// Update asks for the names of a namespace that Apply has closed once more, and exchanges
// what is open in one transaction. before is the last report: an address that a name no
// longer has stays open for an hour, and a name that cannot be asked for keeps what it
// had. After an error what was open before is closed, too, unless the context ended
// before anything was touched.
func Update(ctx context.Context, netns *os.File, r Rules, before Report) (Report, error) {
	c, err := r.compile()
	if err != nil {
		return Report{}, err
	}
	return put(ctx, netns, r, c, &before)
}

// Close closes a network namespace: nothing but loopback, without the engine's resolver.
func Close(netns *os.File) error {
	return inside(netns, func() error {
		conn, err := connect()
		if err != nil {
			return err
		}
		defer func() { _ = conn.CloseLasting() }()
		l, err := readLinks()
		if err != nil {
			return err
		}
		t, _, err := write(conn, l, nil)
		if err != nil {
			return err
		}
		if err := t.readBack(); err != nil {
			return sandbox.Errorf(sandbox.Unavailable, "firewall: %w", err)
		}
		return nil
	})
}

// Check proves on a namespace of its own that this host lets us build firewalls: nil, or
// Unavailable with a hint. It changes nothing that lasts.
func Check() error {
	var netns *os.File
	err := apart(func() (err error) {
		if err = unix.Unshare(unix.CLONE_NEWNET); err == nil {
			netns, err = os.Open("/proc/thread-self/ns/net")
		}
		return err
	})
	if err != nil {
		return refused("make a network namespace", err)
	}
	defer netns.Close()
	return Close(netns)
}

func put(ctx context.Context, netns *os.File, r Rules, c compiled, before *Report) (Report, error) {
	report, err := lookUp(ctx, r, c, before)
	if err != nil {
		return Report{}, err
	}
	err = inside(netns, func() error { return report.fill(ctx, r, c) })
	if err == nil {
		return report, nil
	}
	if shut := Close(netns); shut != nil {
		err = errors.Join(err, shut)
	}
	return Report{}, err
}

// fill runs in the namespace.
func (r *Report) fill(ctx context.Context, rules Rules, c compiled) error {
	conn, err := connect()
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseLasting() }()
	l, err := readLinks()
	if err != nil {
		return err
	}
	open := openings(c, r)
	for i := range open {
		if r.IPv6 = r.IPv6 || (l.ipv6 && len(open[i].v6) > 0); !l.ipv6 {
			open[i].v6 = nil
		}
	}
	t, frames, err := write(conn, l, open)
	if err != nil {
		return err
	}
	if r.Frames = frames; !frames {
		r.warn("this kernel does not filter frames that a process with NET_RAW makes itself")
	}
	if r.Probes, err = t.prove(ctx, rules, open); err != nil {
		code := sandbox.Unavailable
		if ctx.Err() != nil {
			code = sandbox.CodeOf(ctx.Err())
		}
		return sandbox.Errorf(code, "firewall: not proven, so everything is closed: %w", err)
	}
	return nil
}

// write replaces the rule set, and does without the table of frames in a kernel that
// does not know its hook.
func write(conn *nftables.Conn, l links, open []opening) (t *table, frames bool, err error) {
	if t, err = replace(conn, l, open, true); err == nil {
		return t, true, nil
	}
	if !errors.Is(err, unix.EPERM) {
		if t, err = replace(conn, l, open, false); err == nil {
			return t, false, nil
		}
	}
	return nil, false, refused("write the rules", err)
}
