// Package pathcache remembers where programs were found: the table of the hash builtin.
package pathcache

import (
	"maps"
	"slices"
)

// Cache maps names of programs to their paths. Processes share it after a fork; a process whose epoch is not that of the cache
// copies it before it writes. The zero value is empty.
type Cache struct {
	entries map[string]*Entry
	path    string // the PATH in which the programs were found
	epoch   uint64 // of the process that entries belong to
}

// Entry is a program that was found.
type Entry struct {
	Path string
	Hits int // how often it ran since
}

// Len returns the number of entries.
func (c *Cache) Len() int { return len(c.entries) }

// Names returns the names in order.
func (c *Cache) Names() []string { return slices.Sorted(maps.Keys(c.entries)) }

// Lookup returns the entry of a name, nil when there is none. It must not be changed.
func (c *Cache) Lookup(name string) *Entry { return c.entries[name] }

// IsFor reports whether the entries were found in path.
func (c *Cache) IsFor(path string) bool { return c.path == path }

// Use empties the cache when it is for another PATH.
func (c *Cache) Use(path string) {
	if c.path != path {
		c.entries, c.path = nil, path
	}
}

// Clear removes all entries.
func (c *Cache) Clear() { c.entries = nil }

// Hit counts a use of the entry, unless the cache belongs to another process.
func (c *Cache) Hit(e *Entry, epoch uint64) {
	if c.epoch == epoch {
		e.Hits++
	}
}

// Set enters a program for the process with the epoch.
func (c *Cache) Set(name string, e Entry, epoch uint64) {
	c.own(epoch)
	c.entries[name] = &e
}

// Delete removes an entry.
func (c *Cache) Delete(name string, epoch uint64) {
	c.own(epoch)
	delete(c.entries, name)
}

// SetPath notes the PATH in which the entries were found.
func (c *Cache) SetPath(path string) { c.path = path }

// own makes the entries those of the process with the epoch.
func (c *Cache) own(epoch uint64) {
	if c.epoch != epoch {
		m := make(map[string]*Entry, len(c.entries)+1)
		for name, e := range c.entries {
			own := *e
			m[name] = &own
		}
		c.entries, c.epoch = m, epoch
	}
	if c.entries == nil {
		c.entries = map[string]*Entry{}
	}
}
