package column

import (
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
)

// columnTree holds the parent and the children of each line of a table.
type columnTree struct {
	parent   []int // -1 for none
	children [][]int
}

// settleTree finds the lines above and below each other, by two columns.
func (t *columnTable) settleTree() bool {
	var at [3]int
	for i, option := range []int{'r', 'i', 'p'} {
		name := t.lists[option]
		n, ok := t.columnOf(name)
		if !ok {
			t.p.Warn("undefined column name '%s'", name)
			return false
		}
		if at[i] = n; n < 0 || n >= t.count {
			return true // Without such a column there is no tree.
		}
	}
	tree := &columnTree{parent: make([]int, len(t.rows)), children: make([][]int, len(t.rows))}
	below := map[string][]int{}
	for i, row := range t.rows {
		tree.parent[i] = -1
		if above, ok := t.cell(row, at[2]); ok {
			below[above] = append(below[above], i)
		}
	}
	for i, row := range t.rows {
		id, ok := t.cell(row, at[1])
		if !ok {
			continue
		}
		for _, child := range below[id] {
			if !t.canStandBelow(tree, i, child) {
				continue
			}
			if t.p.Spend(1) != nil || t.p.Reserve(16) != nil {
				return false
			}
			tree.parent[child] = i
			tree.children[i] = append(tree.children[i], child)
		}
	}
	// A later line with the same name takes over the lines below.
	for i, list := range tree.children {
		kept := list[:0]
		for _, child := range list {
			if tree.parent[child] == i {
				kept = append(kept, child)
			}
		}
		tree.children[i] = kept
	}
	if !t.walkTree(tree) {
		return false
	}
	t.tree = tree
	if !t.json {
		t.draw(at[0])
	}
	return true
}

// canStandBelow reports whether child is neither the line at nor one of its ancestors.
func (t *columnTable) canStandBelow(tree *columnTree, at, child int) bool {
	for ; at >= 0; at = tree.parent[at] {
		if at == child || t.p.Spend(1) != nil {
			return false
		}
	}
	return true
}

// branches are the line drawings of a tree: a child with later siblings, the last child, a continued line, blanks.
var (
	branchesPlain = [4]string{"|-", "`-", "| ", "  "}
	branchesLines = [4]string{"├─", "└─", "│ ", "  "}
)

// draw puts the branches before the texts of a column.
func (t *columnTable) draw(column int) {
	signs := branchesLines
	if program.IsByteLocale(t.p) {
		signs = branchesPlain
	}
	var walk func(i int, prefix string)
	walk = func(i int, prefix string) {
		for n, child := range t.tree.children[i] {
			sign, pass := signs[0], signs[2]
			if n == len(t.tree.children[i])-1 {
				sign, pass = signs[1], signs[3]
			}
			if t.p.Spend(1+len(prefix)>>4) != nil || t.p.Reserve(len(prefix)) != nil {
				return
			}
			if row := t.rows[child]; column < len(row) {
				row[column] = prefix + sign + row[column]
			}
			walk(child, prefix+pass)
		}
	}
	for i, parent := range t.tree.parent {
		if parent < 0 {
			walk(i, "")
		}
	}
}

// maxTreeDepth bounds how deep a tree of lines is.
const maxTreeDepth = 10000

// walkTree finds the order in which lines are written: parents before their children. It returns false
// after a message.
func (t *columnTable) walkTree(tree *columnTree) bool {
	type place struct{ line, depth int }
	var left []place
	for i, parent := range slices.Backward(tree.parent) {
		if parent < 0 {
			left = append(left, place{i, 0})
		}
	}
	for len(left) > 0 {
		p := left[len(left)-1]
		left = left[:len(left)-1]
		t.order = append(t.order, p.line)
		if p.depth > maxTreeDepth {
			t.p.Warn("the tree is deeper than %d lines", maxTreeDepth)
			return false
		}
		for _, child := range slices.Backward(tree.children[p.line]) {
			left = append(left, place{child, p.depth + 1})
		}
	}
	return true
}
