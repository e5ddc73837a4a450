package guard

// Kind says what a [Refusal] is about.
type Kind string

// The kinds.
const (
	RefusedPath    Kind = "path"
	RefusedSocket  Kind = "socket"  // a Unix socket's path, or its abstract name with "@" in front
	RefusedAddress Kind = "address" // IP:PORT without a route
	RefusedCommand Kind = "command" // a wrapper's own word
)

// Refusal is one thing that was refused. Its texts come from inside as they are: any bytes, of any length
// that a path has.
type Refusal struct {
	Kind    Kind
	Op      string // "create", "write", "read", "rename", "remove", "link", "symlink", "connect", "run"
	Target  string // for RefusedCommand the command's name, or a longer part of its command line
	Command string // the name, for RefusedCommand
}
