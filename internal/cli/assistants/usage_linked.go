//go:build agent

package assistants

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// printUsage prints sums of the runs' usage.
func printUsage(ctx context.Context, a *console.App, f usageFlags) (err error) {
	totals := store.Totals{By: store.By(f.by), Sums: []store.Sum{}}
	s, err := openBooks(ctx, a)
	if err != nil {
		return err
	}
	if s != nil {
		defer func() { err = errors.Join(err, s.Close()) }()
		query := store.Query{By: store.By(f.by), User: f.user, Assistant: f.assistant, From: f.first, To: f.end}
		if totals, err = s.Usage(ctx, query); err != nil {
			return err
		}
	}
	if f.json {
		return a.PrintJSON(totals)
	}
	rows := [][]string{{strings.ToUpper(f.by), "RUNS", "FAILED", "UNFINISHED", "INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT", "TIME", "COST"}}
	for _, x := range totals.Sums {
		if x.Key == "" {
			x.Key = "unknown"
		}
		rows = append(rows, usageRow(x.Key, x))
	}
	printFigures(a, append(rows, usageRow("total", totals.Total)), len(rows[0]))
	return nil
}

func usageRow(name string, x store.Sum) []string {
	u := x.Usage
	return []string{
		name, groupDigits(x.Runs), groupDigits(x.Failed), groupDigits(x.Unfinished), groupDigits(u.Input), groupDigits(u.CacheRead), groupDigits(u.CacheWrite),
		groupDigits(u.Output), (time.Duration(min(x.DurationMS, 1e12)) * time.Millisecond).Round(time.Second).String(), formatCost(x),
	}
}

// formatCost formats a sum's cost as far as it is known.
func formatCost(x store.Sum) string {
	switch {
	case x.CostUSD == nil && x.Unpriced == 0:
		return "-"
	case x.CostUSD == nil:
		return "unknown"
	case x.Unpriced > 0:
		return fmt.Sprintf("$%.4f + unknown", *x.CostUSD)
	}
	return fmt.Sprintf("$%.4f", *x.CostUSD)
}
