//go:build (kube || memory) && !agent

package program

// The program with assistants has all backends. A command that works on sandboxes of several backends ends there, and never
// alternates between two programs each of which lacks one.
const (
	Cluster = "agent-sandbox-agent"
	Memory  = "agent-sandbox-agent"
)

// BecomeBackend does nothing: this program was chosen for its backends.
func BecomeBackend([]string) {}
