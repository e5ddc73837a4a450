package patch

// Kind is the kind of difference of an entry.
type Kind string

// The kinds of a [Change].
const (
	Created  Kind = "created"
	Modified Kind = "modified" // content, link target or mode; a different time is not a change
	Deleted  Kind = "deleted"
	Retyped  Kind = "retyped" // a file became a directory, a link a file, ...
)

// Type is the type of an entry.
type Type string

// The types of an [Entry]. The last two are reported but never applied.
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
	// Path is relative to the workspace, with slashes. It contains the bytes of the file system, also control
	// characters and invalid UTF-8.
	Path string `json:"path"`
	Kind Kind   `json:"kind"`
	Old  *Entry `json:"old,omitempty"` // in the workspace; nil when created
	New  *Entry `json:"new,omitempty"` // in the stage; nil when deleted

	Content  bool   `json:"content,omitempty"`  // Modified: the content differs, not only the mode
	Binary   bool   `json:"binary,omitempty"`   // a patch cannot show a file: it has a NUL byte in its first 8,000, or over 16 MiB
	Conflict string `json:"conflict,omitempty"` // reason why only a forced Apply applies it; empty: the workspace did not change
	Never    string `json:"never,omitempty"`    // reason why it cannot be applied; empty: it can
	Note     string `json:"note,omitempty"`     // part of the change that Apply omits
}

// Lines counts the lines of text that a change adds and removes; zero for anything but text.
type Lines struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// IsPatchable reports whether a patch of [Sides.WritePatch] contains the change. It omits directories, FIFOs, sockets
// and devices. Of a mode it contains only whether the owner may execute the file.
func (c Change) IsPatchable() bool {
	before, after := gitMode(c.Old), gitMode(c.New)
	return before != after || before != "" && c.Content
}

// gitMode returns the mode that git stores for an entry; "" if git does not store the entry.
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
