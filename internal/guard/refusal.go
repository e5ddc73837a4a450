package guard

// Kind is the kind of operation that a [Refusal] reports.
type Kind string

// The kinds.
const (
	RefusedPath    Kind = "path"
	RefusedSocket  Kind = "socket"  // a Unix socket's path, or its abstract name with "@" in front
	RefusedAddress Kind = "address" // IP:PORT without a route
	RefusedCommand Kind = "command" // reported by a wrapper
	RefusedCall    Kind = "call"    // a system call that flags permit, by its name
)

// Refusal is a refused operation. Its texts come unchanged from the sandbox: any bytes, up to the length of a
// path.
type Refusal struct {
	Kind    Kind
	Op      string // "create", "write", "read", "rename", "remove", "link", "symlink", "connect", "run"
	Target  string // for RefusedCommand the refused part of the command line
	Command string // the name, for RefusedCommand
}
