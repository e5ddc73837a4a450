package changes

import "github.com/seed434b0696/agent-sandbox/internal/cli/console"

// PrintFinished reports which changes of an interrupted run were finished.
func PrintFinished(a *console.App, paths []string) {
	if len(paths) > 0 {
		a.Err.Say("finished the changes of a killed run: " + console.Count(len(paths), "change") + " applied")
	}
}
