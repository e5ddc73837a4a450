//go:build agent

package assistants

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// printAudit prints the audit's records and verifies their chain.
func printAudit(ctx context.Context, a *console.App, f auditFlags) (err error) {
	s, err := openBooks(ctx, a)
	if err != nil {
		return err
	}
	rows := [][]string{{"RECORD", "TIME", "USER", "ACTION", "SUBJECT", "DECISION"}}
	enc := a.NewEncoder()
	found, last := f.hash == "", store.Record{}
	if s != nil {
		defer func() { err = errors.Join(err, s.Close()) }()
		err = s.Records(ctx, f.from, func(r store.Record) error {
			last = r
			found = found || r.Hash == f.hash
			switch {
			case f.user != "" && r.User != f.user:
			case f.json:
				return enc.Encode(r)
			default:
				rows = append(rows, []string{strconv.FormatInt(r.Seq, 10), formatTime(r.At), r.User, r.Action, r.Subject, r.Decision})
			}
			return nil
		})
	}
	if !f.json {
		if len(rows) > 1 {
			printFigures(a, rows, 1)
		}
		if err == nil && last.Seq > 0 {
			fmt.Fprintf(a.Out, "verified: %s, the last hash is %s\n", console.Count(last.Seq-max(0, f.from-1), "record"), last.Hash)
		}
	}
	switch {
	case sandbox.CodeOf(err) == sandbox.Denied:
		a.Err.Say(err.Error())
		return console.ExitStatus(1)
	case err == nil && !found:
		a.Err.Say("no record has the hash " + f.hash + ": records were removed, or the hash belongs to another list")
		return console.ExitStatus(1)
	}
	return err
}
