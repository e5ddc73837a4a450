package changes

import "github.com/seed434b0696/agent-sandbox/internal/cli/console"

// PrintFinished says what of an earlier run was finished.
func PrintFinished(a *console.App, paths []string) {
	if len(paths) > 0 {
		a.Err.Say("finished what a run was killed in: " + console.Count(len(paths), "change") + " applied")
	}
}
