package guest

import "github.com/seed434b0696/agent-sandbox/internal/guest/process"

// IsStageCall reports whether a program that contains the command and the guest was
// started to mount a staged view, outside of a sandbox: see package stage. The command
// "stage" of the CLI has none of these flags.
func IsStageCall(args []string) bool {
	return len(args) > 2 && process.IsOwnName(args[0]) && args[1] == "stage" && (args[2] == "--lower" || args[2] == "--bind")
}
