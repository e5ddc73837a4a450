package guard

// Kind is the kind of operation that a [Refusal] reports.
type Kind string

// The kinds.
const (
	RefusedPath    Kind = "path"
	RefusedSocket  Kind = "socket"  // a Unix socket's path, or its abstract name with "@" in front
	RefusedAddress Kind = "address" // IP:PORT without a route
	RefusedCommand Kind = "command" // reported by a wrapper
)

// Refusal is an operation that was refused. Its texts come from the sandbox unchanged: any bytes, up to the length
// of a path.
type Refusal struct {
	Kind    Kind
	Op      string // "create", "write", "read", "rename", "remove", "link", "symlink", "connect", "run"
	Target  string // for RefusedCommand the command's name, or a longer part of its command line
	Command string // the name, for RefusedCommand
}
