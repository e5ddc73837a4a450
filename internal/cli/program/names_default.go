//go:build !kube && !memory && !agent

package program

// The programs that are built with more than this one. What they link would cost each start of this one some
// milliseconds and its file many megabytes.
const (
	Cluster = "agent-sandbox-kube"   // with the driver of pods
	Memory  = "agent-sandbox-memory" // with the in-memory machine
)

// BecomeBackend replaces this process by the program that has the backend which a flag names, before the command tree is
// made. It returns when this program can go on: no flag names another backend, or the program is missing, which the
// command reports.
func BecomeBackend(args []string) {
	if len(args) > 0 && (args[0] == "agent" || args[0] == "mcp") { // the program with assistants has all backends
		return
	}
	for i, arg := range args {
		switch {
		case arg == "--":
			return
		case arg == "--backend=virtual", arg == "--backend" && i+1 < len(args) && args[i+1] == "virtual":
			_ = Become(Memory)
			return
		case arg == "--backend=kube", arg == "--backend" && i+1 < len(args) && args[i+1] == "kube":
			_ = Become(Cluster)
			return
		}
	}
}
