package firewall

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

const (
	tableName    = "agent-sandbox"
	netlinkLimit = 15 * time.Second
	elements     = 400 // in one message; an attribute holds 64 KiB
)

// table is a rule set that is being written, with the content that readBack must find in
// the kernel.
type table struct {
	conn   *nftables.Conn
	ids    uint32
	chains []*chain
	sets   []*set
}

type chain struct {
	*nftables.Chain
	rules int
}

type set struct {
	*nftables.Set
	elements int
}

// connect opens a netlink socket in the namespace of the thread.
func connect() (*nftables.Conn, error) {
	limit := func(c *netlink.Conn) error { return c.SetDeadline(time.Now().Add(netlinkLimit)) }
	conn, err := nftables.New(nftables.AsLasting(), nftables.WithSockOptions(limit))
	if err != nil {
		return nil, refusalError("open netlink", err)
	}
	return conn, nil
}

// replace writes the whole rule set in one transaction: the new rules replace the old
// ones without a gap. Without frames it writes no table for packets of AF_PACKET.
func replace(conn *nftables.Conn, l links, open []opening, frames bool) (*table, error) {
	t := &table{conn: conn}
	if err := t.inet(open); err != nil {
		return nil, err
	}
	if frames {
		if err := t.frames(l, open); err != nil {
			return nil, err
		}
	}
	return t, conn.Flush()
}

// start creates one of our tables, or empties it.
func (t *table) start(f nftables.TableFamily) *nftables.Table {
	nt := &nftables.Table{Family: f, Name: tableName}
	t.conn.AddTable(nt)
	t.conn.DelTable(nt)
	return t.conn.AddTable(nt)
}

// chain adds a chain to a hook. It drops packets that its rules do not accept.
func (t *table) chain(c *nftables.Chain) *chain {
	drop := nftables.ChainPolicyDrop
	c.Type, c.Policy, c.Priority = nftables.ChainTypeFilter, &drop, nftables.ChainPriorityFilter
	out := &chain{Chain: t.conn.AddChain(c)}
	t.chains = append(t.chains, out)
	return out
}

func (t *table) rule(c *chain, parts ...[]expr.Any) {
	t.conn.AddRule(&nftables.Rule{Table: c.Table, Chain: c.Chain, Exprs: all(parts...)})
	c.rules++
}

// set makes a set of addresses.
func (t *table) set(nt *nftables.Table, name string, f family, spans []span) (*set, error) {
	t.ids++
	s := &set{Set: &nftables.Set{Table: nt, ID: t.ids, Name: name, Interval: true, KeyType: nftables.TypeIPAddr}}
	if f.length == 16 {
		s.KeyType = nftables.TypeIP6Addr
	}
	t.sets = append(t.sets, s)
	if err := t.conn.AddSet(s.Set, nil); err != nil {
		return nil, err
	}
	var all []nftables.SetElement
	for _, sp := range spans {
		all = append(all, nftables.SetElement{Key: sp.from.AsSlice()})
		if end := sp.to.Next(); end.IsValid() {
			all = append(all, nftables.SetElement{Key: end.AsSlice(), IntervalEnd: true})
		}
	}
	s.elements = len(all)
	for part := range slices.Chunk(all, elements) {
		if err := t.conn.SetAddElements(s.Set, part); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// inet is the filter for packets of the kernel's IP.
func (t *table) inet(open []opening) error {
	nt := t.start(nftables.TableFamilyINet)
	in := t.chain(&nftables.Chain{Name: "input", Table: nt, Hooknum: nftables.ChainHookInput})
	// A container on two networks must not forward packets between them.
	t.chain(&nftables.Chain{Name: "forward", Table: nt, Hooknum: nftables.ChainHookForward})
	out := t.chain(&nftables.Chain{Name: "output", Table: nt, Hooknum: nftables.ChainHookOutput})

	t.rule(in, viaLoopback(expr.MetaKeyIIFNAME), accept())
	// The engine's resolver, which asks the world, listens inside at this address, and
	// its own rules have already changed the port.
	resolver := all(ipv4().is(), []expr.Any{payload(expr.PayloadBaseNetworkHeader, 16, 4), equal(127, 0, 0, 11)})
	t.rule(out, resolver, transport(unix.IPPROTO_TCP), reject(true))
	t.rule(out, resolver, reject(false))
	t.rule(out, viaLoopback(expr.MetaKeyOIFNAME), accept())

	// Answers of the network to what is open: unreachable, too big, time exceeded.
	t.rule(in, ipv4().is(), state(expr.CtStateBitRELATED), transport(unix.IPPROTO_ICMP), icmpType(3, 12), accept())
	six := false
	for _, o := range open {
		six = six || len(o.v6) > 0
		for _, f := range []family{ipv4(), ipv6()} {
			if err := t.open(nt, in, out, o, f); err != nil {
				return err
			}
		}
	}
	if six {
		t.rule(in, ipv6().is(), state(expr.CtStateBitRELATED), transport(unix.IPPROTO_ICMPV6), icmpType(1, 4), accept())
		t.rule(in, ipv6().is(), neighbor(), accept())
		t.rule(out, ipv6().is(), neighbor(), accept())
	}
	t.rule(out, transport(unix.IPPROTO_TCP), reject(true))
	t.rule(out, reject(false))
	return nil
}

// open lets TCP out to a set, and its answers in. Outgoing packets are not accepted by
// connection state: a connection from before the filter breaks.
func (t *table) open(nt *nftables.Table, in, out *chain, o opening, f family) error {
	spans := o.spans(f)
	if len(spans) == 0 {
		return nil
	}
	s, err := t.set(nt, o.name(f), f, spans)
	if err != nil {
		return err
	}
	tcp := all(f.is(), transport(unix.IPPROTO_TCP))
	t.rule(out, tcp, ports(2, o.first, o.last), f.to(s.Name, s.ID), accept())
	t.rule(in, tcp, ports(0, o.first, o.last), f.from(s.Name, s.ID), state(expr.CtStateBitESTABLISHED), accept())
	return nil
}

// frames is the same filter for sockets that make their own frames. It sees packets, not
// connections.
func (t *table) frames(l links, open []opening) error {
	nt := t.start(nftables.TableFamilyNetdev)
	for i, o := range open {
		for _, f := range []family{ipv4(), ipv6()} {
			if spans := o.spans(f); len(spans) > 0 {
				if _, err := t.set(nt, o.name(f), f, spans); err != nil {
					return fmt.Errorf("opening %d: %w", i, err)
				}
			}
		}
	}
	ids := map[string]uint32{}
	for _, s := range t.sets {
		if s.Table.Family == nftables.TableFamilyNetdev {
			ids[s.Name] = s.ID
		}
	}
	for i, link := range l.names {
		c := t.chain(&nftables.Chain{
			Name: fmt.Sprintf("link%d", i), Table: nt, Hooknum: nftables.ChainHookEgress, Device: link,
		})
		t.rule(c, framed([2]byte{0x08, 0x06}), accept()) // ARP
		for _, o := range open {
			for _, f := range []family{ipv4(), ipv6()} {
				if id, ok := ids[o.name(f)]; ok {
					t.rule(c, framed(f.ether), transport(unix.IPPROTO_TCP), ports(2, o.first, o.last), f.to(o.name(f), id), accept())
				}
			}
		}
		if slices.ContainsFunc(open, func(o opening) bool { return len(o.v6) > 0 }) {
			t.rule(c, framed(ipv6().ether), neighbor(), accept())
		}
	}
	return nil
}

func (o opening) spans(f family) []span {
	if f.length == 16 {
		return o.v6
	}
	return o.v4
}

func (o opening) name(f family) string {
	return fmt.Sprintf("v%s-%d-%d", f.any4or6, o.first, o.last)
}
