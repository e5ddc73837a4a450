package guest

import "time"

// Operations of a pod's guest.
const (
	PodStatus = "status" // answers with a PodState
	PodKill   = "kill"   // ends all that runs
	PodEnd    = "end"    // as above, and the pod; the end of the session is the answer
	PodStill  = "still"  // stops all that runs, says so with a line, and lets it go on when the client has gone
)

// PodState is the answer to PodStatus.
type PodState struct {
	Running int       `json:"running"` // commands
	Started time.Time `json:"started"` // the guest
}

// How the pod's containers end together.
const (
	// AlivePipe is a named pipe to which the first process has the only writing end, so that who reads it sees its end. It
	// lies in a volume that the pod's other container has at [AliveRoot].
	AlivePipe = "/alive"
	AliveRoot = "/run/agent-sandbox-alive"
)
