package sandbox

import "time"

// DenialKind is the kind of the target of a [Denial].
type DenialKind string

// The kinds.
const (
	DeniedFile    DenialKind = "file"    // a path, to write, create, move or remove
	DeniedSocket  DenialKind = "socket"  // a Unix socket, or an address that is reached without the proxy
	DeniedHost    DenialKind = "host"    // a host and port, by the network's proxy
	DeniedCommand DenialKind = "command" // a command by its name
	DeniedCall    DenialKind = "call"    // a system call by its name
	DeniedLimit   DenialKind = "limit"   // a limit of the policy, which stopped an operation
)

// Denial is an operation of a command that the isolation refused. Its texts come from inside
// in part: they are bounded and hold no control characters.
type Denial struct {
	Time   time.Time  `json:"time"`
	Kind   DenialKind `json:"kind"`
	Op     string     `json:"op"`               // "create", "write", "connect", "ask", "request", "run", "exceed"
	Target string     `json:"target"`           // path, HOST:PORT, the command's name, or limits.NAME
	Reason string     `json:"reason,omitempty"` // one clause
	Rule   string     `json:"rule,omitempty"`   // the rule that decided, as it was written; empty: none allows it
	Source string     `json:"source,omitempty"` // source of the rule: FILE:LINE, a flag, "built in"
	Fix    string     `json:"fix,omitempty"`    // the flags that would allow it; empty when nothing does
	Missed int        `json:"missed,omitempty"` // not 0: this stands for so many denials that were too many to report, and has only Time besides
}
