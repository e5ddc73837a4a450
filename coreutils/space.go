package coreutils

import (
	"github.com/seed434b0696/agent-sandbox/shell"
)

// space is how much the tree may hold, and how much it does.
type space struct {
	total, used, free           int64 // bytes
	nodes, nodesUsed, nodesFree int64
}

// boundless stands for the size of a tree without limits.
const boundless = int64(1) << 50

func newSpace(p *shell.Proc) space {
	u := p.FS().Usage()
	s := space{total: u.Limits.Bytes, used: u.Bytes, nodes: int64(u.Limits.Nodes), nodesUsed: int64(u.Nodes)}
	if s.total <= 0 || s.total > boundless {
		s.total = boundless
	}
	if s.nodes <= 0 || s.nodes > boundless {
		s.nodes = boundless >> 10
	}
	s.free, s.nodesFree = max(0, s.total-s.used), max(0, s.nodes-s.nodesUsed)
	return s
}
