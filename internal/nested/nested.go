// Package nested decides about names that commands must not create in any directory of a tree, because programs of the
// host obey a file of that name in the user's current directory. It compares paths and does not access the file system.
package nested

import "strings"

// Rules define which names are forbidden in which trees. All paths are absolute, clean and resolved.
type Rules struct {
	Roots        []string // the trees; none: nothing is forbidden
	Names        []string // forbidden names, compared without regard to case
	Dependencies []string // names of directories below which no name is forbidden, because users do not work there
	Open         []string // allowed paths, with all paths below them
}

// Names are compiled Rules. The zero value forbids nothing. They are immutable.
type Names struct {
	roots, open         []string
	names, dependencies map[string]bool
}

// New compiles rules.
func New(r Rules) *Names {
	n := &Names{roots: r.Roots, open: r.Open, names: map[string]bool{}, dependencies: map[string]bool{}}
	for _, name := range r.Names {
		n.names[Fold(name)] = true
	}
	for _, name := range r.Dependencies {
		n.dependencies[name] = true
	}
	return n
}

// Forbids returns the forbidden path that is path or contains it; "": path is allowed. A directory that contains an
// open path is allowed.
func (n *Names) Forbids(path string) string {
	for _, root := range n.roots {
		if path == root || !IsWithin(path, root) {
			continue
		}
		found := n.first(path, len(strings.TrimSuffix(root, "/"))+1)
		if found != "" && !n.isOpen(path) && !n.IsOnTheWay(path) {
			return found
		}
	}
	return ""
}

// first returns the path up to its first forbidden component after offset start.
func (n *Names) first(path string, start int) string {
	for start <= len(path) {
		end := len(path)
		if i := strings.IndexByte(path[start:], '/'); i >= 0 {
			end = start + i
		}
		switch name := path[start:end]; {
		case n.names[Fold(name)]:
			return path[:end]
		case n.dependencies[name]:
			return ""
		}
		start = end + 1
	}
	return ""
}

// Covers reports whether the rules forbid names in the directory path.
func (n *Names) Covers(path string) bool {
	for _, root := range n.roots {
		if IsWithin(path, root) && !n.isDependency(strings.TrimPrefix(path[len(root):], "/")) && !n.isOpen(path) {
			return true
		}
	}
	return false
}

// isDependency reports whether a relative path is a tree of dependencies or lies in one.
func (n *Names) isDependency(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if n.dependencies[name] {
			return true
		}
	}
	return false
}

func (n *Names) isOpen(path string) bool {
	for _, open := range n.open {
		if IsWithin(path, open) {
			return true
		}
	}
	return false
}

// IsOnTheWay reports whether an open path lies below path.
func (n *Names) IsOnTheWay(path string) bool {
	for _, open := range n.open {
		if path != open && IsWithin(open, path) {
			return true
		}
	}
	return false
}

// IsWithin reports whether path is root or lies below it.
func IsWithin(path, root string) bool {
	return path == root || root == "/" || strings.HasPrefix(path, root) && path[len(root)] == '/'
}
