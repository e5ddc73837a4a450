// Package filesystem describes the tree of a machine as a file system: its type, its device and its space.
package filesystem

import (
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// DeviceNumber is the device number of the tree.
const DeviceNumber = 0x35

// Type is the tree's file system type.
const Type = "tmpfs"

// Space is the capacity of the tree, and the used part of it.
type Space struct {
	Total, Used, Free           int64 // bytes
	Nodes, NodesUsed, NodesFree int64
}

// boundless stands for the size of a tree without limits.
const boundless = int64(1) << 50

// NewSpace returns the space of a tree from its usage and limits.
func NewSpace(u vfs.Usage) Space {
	s := Space{Total: u.Limits.Bytes, Used: u.Bytes, Nodes: int64(u.Limits.Nodes), NodesUsed: int64(u.Nodes)}
	if s.Total <= 0 || s.Total > boundless {
		s.Total = boundless
	}
	if s.Nodes <= 0 || s.Nodes > boundless {
		s.Nodes = boundless >> 10
	}
	s.Free, s.NodesFree = max(0, s.Total-s.Used), max(0, s.Nodes-s.NodesUsed)
	return s
}

// Add counts another file system in.
func (s *Space) Add(o Space) {
	s.Total, s.Used, s.Free = s.Total+o.Total, s.Used+o.Used, s.Free+o.Free
	s.Nodes, s.NodesUsed, s.NodesFree = s.Nodes+o.Nodes, s.NodesUsed+o.NodesUsed, s.NodesFree+o.NodesFree
}

// BlockSize is the size of a block for input and output, in bytes.
const BlockSize = 4096
