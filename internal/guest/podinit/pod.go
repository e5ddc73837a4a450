// Package podinit is the first process of a pod. It restricts itself, supervises commands, and serves the clients that join.
package podinit

import "time"

// Operations of a pod's guest.
const (
	OpStatus = "status" // answers with a [State]
	OpKill   = "kill"   // ends all commands
	OpEnd    = "end"    // ends all commands and the pod; the end of the session is the answer
)

// ExitUnstarted is the exit status of a join without --wait or --wake when the first process of the pod accepts no connections: it
// still waits for a client to send the guest.
const ExitUnstarted = 3

// State is the answer to [OpStatus].
type State struct {
	Running int       `json:"running"` // commands
	Started time.Time `json:"started"` // the guest
	Frozen  bool      `json:"frozen"`  // the commands are stopped; see package session
}

// Names through which the pod's containers end together.
const (
	// AlivePipe is a named pipe whose only writing end is in the first process, so that its reader notices the end of
	// the pod. It is in a volume that the pod's other container mounts at [AliveRoot].
	AlivePipe = "/alive"
	AliveRoot = "/run/agent-sandbox-alive"
)
