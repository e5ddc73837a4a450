//go:build agent

package assistants

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// pruneAgents removes what has been unused for the retention.
func pruneAgents(ctx context.Context, a *console.App, f pruneFlags) (err error) {
	relay, ctx := console.StartRelay(ctx, false, a.Err.Say)
	defer relay.Stop()
	s, err := openBooks(ctx, a)
	if err != nil {
		return err
	}
	report := store.Report{Workspaces: []store.Removed{}, Chats: []store.Removed{}}
	if s != nil {
		defer func() { err = errors.Join(err, s.Close()) }()
		report, err = s.Sweep(ctx, store.Sweeping{OlderThan: f.olderThan, History: f.history, DryRun: f.dryRun})
	}
	left := errors.Join(append([]error{err}, report.Left...)...)
	if f.json {
		return errors.Join(a.PrintJSON(report), left)
	}
	did := "removed"
	if f.dryRun {
		did = "would remove"
	}
	say := &agentPrinter{out: a.Out}
	for _, x := range report.Workspaces {
		say.line(did+" workspace", x.Chat, "of "+x.User, "last used "+formatTime(x.Used))
	}
	for _, x := range report.Chats {
		say.line(did+" chat", x.Chat, "of "+x.User, "last used "+formatTime(x.Used))
	}
	counts := []string{console.Count(len(report.Workspaces), "workspace"), console.Count(len(report.Chats), "chat")}
	if report.Files > 0 {
		counts = append(counts, console.Count(report.Files, "file"))
	}
	if report.Busy > 0 {
		counts = append(counts, fmt.Sprintf("%d in use", report.Busy))
	}
	say.line(did, counts...)
	return left
}
