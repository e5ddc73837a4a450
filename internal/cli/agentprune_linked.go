//go:build agent

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
)

// pruneAgents removes what nobody has used for long.
func (a *app) pruneAgents(ctx context.Context, f pruneFlags) (err error) {
	relay, ctx := startRelay(ctx, false, a.err.say)
	defer relay.stop()
	s, err := a.openBooks(ctx)
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
		return errors.Join(a.printJSON(report), left)
	}
	did := "removed"
	if f.dryRun {
		did = "would remove"
	}
	say := &agentPrinter{out: a.out}
	for _, x := range report.Workspaces {
		say.line(did+" workspace", x.Chat, "of "+x.User, "last used "+when(x.Used))
	}
	for _, x := range report.Chats {
		say.line(did+" chat", x.Chat, "of "+x.User, "last used "+when(x.Used))
	}
	counts := []string{count(len(report.Workspaces), "workspace"), count(len(report.Chats), "chat")}
	if report.Files > 0 {
		counts = append(counts, count(report.Files, "file"))
	}
	if report.Busy > 0 {
		counts = append(counts, fmt.Sprintf("%d in use", report.Busy))
	}
	say.line(did, counts...)
	return left
}
