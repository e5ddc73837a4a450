package firewall

import (
	"context"
	"errors"
	"os"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Apply closes a network namespace, opens the addresses that the rules allow, and
// verifies that all others are closed. netns is /proc/PID/ns/net of a process in it; the
// caller closes it, and must not let hostile programs run there before Apply has
// returned.
//
// The report warns of names without an address, of addresses that several names share,
// and of a failure to fetch GitHub's ranges. If no address remains, everything is closed.
// After an error everything is closed, with two exceptions. Invalid and Unsupported
// (wrong rules, or the namespace of this process) mean that Apply changed nothing. After
// Unavailable there may be no filter at all: without root, or in a kernel without
// nf_tables.
func Apply(ctx context.Context, netns *os.File, r Rules) (Report, error) {
	c, err := r.compile()
	if err != nil {
		return Report{}, err
	}
	if err := Close(netns); err != nil {
		return Report{}, err
	}
	return applyRules(ctx, netns, r, c, &Report{})
}

// Update resolves the names of the rules again, for a namespace that Apply has closed,
// and replaces the open addresses in one transaction. before is the last report: an
// address that a name no longer has stays open for an hour, and a name that cannot be
// resolved keeps its addresses. After an error all addresses are closed, unless the
// context ended before Update changed the filter.
func Update(ctx context.Context, netns *os.File, r Rules, before Report) (Report, error) {
	c, err := r.compile()
	if err != nil {
		return Report{}, err
	}
	return applyRules(ctx, netns, r, c, &before)
}

// Close closes a network namespace: only loopback works, without the engine's resolver.
func Close(netns *os.File) error {
	return runInside(netns, func() error {
		conn, err := connect()
		if err != nil {
			return err
		}
		defer func() { _ = conn.CloseLasting() }()
		l, err := readLinks()
		if err != nil {
			return err
		}
		t, _, err := writeRules(conn, l, nil)
		if err != nil {
			return err
		}
		if err := t.readBack(); err != nil {
			return sandbox.Errorf(sandbox.Unavailable, "firewall: %w", err)
		}
		return nil
	})
}

// Check tests with a namespace of its own whether this process can build a firewall on
// this host. It returns nil, or Unavailable with a hint, and leaves no changes.
func Check() error {
	var netns *os.File
	err := runOnThread(func() (err error) {
		if err = unix.Unshare(unix.CLONE_NEWNET); err == nil {
			netns, err = os.Open("/proc/thread-self/ns/net")
		}
		return err
	})
	if err != nil {
		return refusalError("make a network namespace", err)
	}
	defer netns.Close()
	return Close(netns)
}

func applyRules(ctx context.Context, netns *os.File, r Rules, c compiled, before *Report) (Report, error) {
	report, err := lookUp(ctx, r, c, before)
	if err != nil {
		return Report{}, err
	}
	err = runInside(netns, func() error { return report.fill(ctx, r, c) })
	if err == nil {
		return report, nil
	}
	if shut := Close(netns); shut != nil {
		err = errors.Join(err, shut)
	}
	return Report{}, err
}

// fill writes and verifies the rules; it runs in the namespace.
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
	t, frames, err := writeRules(conn, l, open)
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

// writeRules replaces the rule set. It omits the table for frames if the kernel does not
// support its hook.
func writeRules(conn *nftables.Conn, l links, open []opening) (t *table, frames bool, err error) {
	if t, err = replace(conn, l, open, true); err == nil {
		return t, true, nil
	}
	if !errors.Is(err, unix.EPERM) {
		if t, err = replace(conn, l, open, false); err == nil {
			return t, false, nil
		}
	}
	return nil, false, refusalError("write the rules", err)
}
