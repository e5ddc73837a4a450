package stage

import "strings"

// Kind is how an entry differs.
type Kind string

// The kinds of a [Change].
const (
	Created  Kind = "created"
	Modified Kind = "modified" // content, link target or mode; a time alone is no change
	Deleted  Kind = "deleted"
	Retyped  Kind = "retyped" // a file became a directory, a link a file, ...
)

// Type is what an entry is.
type Type string

// The types of an [Entry]. The last two are shown and never applied.
const (
	File      Type = "file"
	Directory Type = "directory"
	Symlink   Type = "symlink"
	FIFO      Type = "fifo"
	Socket    Type = "socket"
	Device    Type = "device"
)

// Entry is one side of a [Change].
type Entry struct {
	Type   Type   `json:"type"`
	Mode   uint32 `json:"mode"`             // permission bits with set-user-ID (04000), set-group-ID (02000) and sticky (01000)
	Size   int64  `json:"size"`             // of a file; else 0
	Target string `json:"target,omitempty"` // of a symlink
	Links  int    `json:"links,omitempty"`  // of a file: its hard links, on its own side
}

// Change is one path that differs between the workspace and the stage. A deleted
// or created directory is followed by a Change for everything below it.
type Change struct {
	// Path is relative to the workspace, with slashes. It holds the bytes that the
	// file system has, which may be control characters or no UTF-8.
	Path string `json:"path"`
	Kind Kind   `json:"kind"`
	Old  *Entry `json:"old,omitempty"` // in the workspace; nil when created
	New  *Entry `json:"new,omitempty"` // in the stage; nil when deleted

	Content  bool   `json:"content,omitempty"`  // Modified: the content differs, not only the mode
	Binary   bool   `json:"binary,omitempty"`   // a side is a file that a patch cannot show: a NUL byte early on, or over 16 MiB
	Conflict string `json:"conflict,omitempty"` // why only a forced Apply takes it; empty: nothing changed underneath
	Never    string `json:"never,omitempty"`    // why no Apply takes it; empty: it can be applied
	Note     string `json:"note,omitempty"`     // what Apply leaves out of it
}

// Lines is how many lines of text a change adds and removes; zero for what is no text.
type Lines struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// comparePaths orders paths as a walk meets them: a directory before what is in it, and
// that before the directory's next sibling.
func comparePaths(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			switch {
			case a[i] == '/':
				return -1
			case b[i] == '/':
				return 1
			case a[i] < b[i]:
				return -1
			}
			return 1
		}
	}
	return len(a) - len(b)
}

// below reports whether path is dir or lies in it.
func below(path, dir string) bool {
	return dir == "" || path == dir || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}

// parentOf is the directory of path; "" is the workspace itself.
func parentOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// Patchable reports whether [Stage.WritePatch] shows anything of the change. It does
// not of directories, FIFOs, sockets and devices, and of modes only whether the owner
// may execute.
func (c Change) Patchable() bool {
	before, after := gitMode(c.Old), gitMode(c.New)
	return before != after || before != "" && c.Content
}

// gitMode is what git stores for an entry; "" when it stores none.
func gitMode(e *Entry) string {
	switch {
	case e == nil:
	case e.Type == Symlink:
		return "120000"
	case e.Type == File && e.Mode&0o100 != 0:
		return "100755"
	case e.Type == File:
		return "100644"
	}
	return ""
}
