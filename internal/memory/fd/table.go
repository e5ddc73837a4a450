// Package fd has the open file descriptions and descriptor tables of the processes of the in-memory machine: files and pipes of its
// tree, streams of the host, and output that is captured.
package fd

import (
	"sync"
	"sync/atomic"
)

// Table is the descriptors of a process. Processes share it until one changes it. Only the owner calls methods,
// but for Take and Numbers.
type Table struct {
	refs atomic.Int32
	mu   sync.Mutex // held by the owner while it changes fds, and by others while they read
	fds  []*Description
}

// NewTable returns a table in which all descriptors are closed.
func NewTable() *Table {
	t := &Table{}
	t.refs.Store(1)
	return t
}

// Share adds a reference.
func (t *Table) Share() *Table {
	t.refs.Add(1)
	return t
}

// Release drops a reference to the table; the last one closes the open files.
func (t *Table) Release() {
	if t.refs.Add(-1) != 0 {
		return
	}
	t.mu.Lock()
	fds := t.fds
	t.fds = nil
	t.mu.Unlock()
	for _, d := range fds {
		if d != nil {
			d.Unref()
		}
	}
}

// Take is Get for other processes than the owner; the caller gives the reference up. A nil table has none.
func (t *Table) Take(fd int) *Description {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if d := t.Get(fd); d != nil {
		return d.Ref()
	}
	return nil
}

// Numbers lists the open descriptors, for other processes. A nil table has none.
func (t *Table) Numbers() []int {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []int
	for fd, d := range t.fds {
		if d != nil {
			list = append(list, fd)
		}
	}
	return list
}

// Get returns the description of a descriptor, nil when it is closed.
func (t *Table) Get(fd int) *Description {
	if fd < 0 || fd >= len(t.fds) {
		return nil
	}
	return t.fds[fd]
}

// Len returns a number above all open descriptors.
func (t *Table) Len() int { return len(t.fds) }

// Own returns a table that only the caller has: t, or a copy for which it gives up t.
func (t *Table) Own() *Table {
	if t.refs.Load() == 1 {
		return t
	}
	c := NewTable()
	c.fds = make([]*Description, len(t.fds))
	for i, d := range t.fds {
		if d != nil {
			c.fds[i] = d.Ref()
		}
	}
	t.Release()
	return c
}

// Set makes a descriptor of an own table the description, whose reference it takes over; nil closes it.
func (t *Table) Set(fd int, d *Description) {
	if d == nil && fd >= len(t.fds) {
		return
	}
	t.mu.Lock()
	for fd >= len(t.fds) {
		t.fds = append(t.fds, nil)
	}
	old := t.fds[fd]
	t.fds[fd] = d
	t.mu.Unlock()
	if old != nil {
		old.Unref()
	}
}
