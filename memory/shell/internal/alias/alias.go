// Package alias stores the aliases of a shell process.
package alias

import (
	"maps"
	"slices"
)

// Table maps names to their texts. Processes share a table after a fork; the first that writes copies it. The zero
// value is empty.
type Table struct {
	texts  map[string]string
	shared bool
}

// Share marks the table as shared with another process and reports whether it was before.
func (t *Table) Share() (before bool) {
	before, t.shared = t.shared, true
	return before
}

// SetShared restores the result of Share after the other process has ended.
func (t *Table) SetShared(shared bool) { t.shared = shared }

// Len returns the number of aliases.
func (t *Table) Len() int { return len(t.texts) }

// Lookup returns the text of an alias.
func (t *Table) Lookup(name string) (text string, ok bool) {
	text, ok = t.texts[name]
	return text, ok
}

// Names returns the names in order.
func (t *Table) Names() []string { return slices.Sorted(maps.Keys(t.texts)) }

// Set defines an alias.
func (t *Table) Set(name, text string) {
	t.own()
	t.texts[name] = text
}

// Delete removes an alias.
func (t *Table) Delete(name string) {
	t.own()
	delete(t.texts, name)
}

// Clear removes all aliases.
func (t *Table) Clear() { t.texts, t.shared = nil, false }

// own makes the table this process's alone.
func (t *Table) own() {
	if t.texts != nil && !t.shared {
		return
	}
	m := make(map[string]string, len(t.texts)+1)
	maps.Copy(m, t.texts)
	t.texts, t.shared = m, false
}
