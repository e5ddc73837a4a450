package coreutils

import (
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// space is how much the tree may hold, and how much it does.
type space struct {
	total, used, free           int64 // bytes
	nodes, nodesUsed, nodesFree int64
}

// boundless stands for the size of a tree without limits.
const boundless = int64(1) << 50

func newSpace(u vfs.Usage) space {
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

// add counts another file system in.
func (s *space) add(o space) {
	s.total, s.used, s.free = s.total+o.total, s.used+o.used, s.free+o.free
	s.nodes, s.nodesUsed, s.nodesFree = s.nodes+o.nodes, s.nodesUsed+o.nodesUsed, s.nodesFree+o.nodesFree
}
