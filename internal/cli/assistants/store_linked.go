//go:build agent

package assistants

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// stateDir returns the directory of the assistants' state. It follows the XDG base directory specification, by which a relative
// path is ignored.
func stateDir(env []string, home string) string {
	base := console.Lookup(env, "XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "agent-sandbox", "agent")
}

// openBooks opens this user's store. If it does not exist, openBooks returns nil and creates nothing.
func openBooks(ctx context.Context, a *console.App) (*store.Store, error) {
	home, err := host.HomeDir(a.Env)
	if err != nil {
		return nil, err
	}
	h, err := host.Locate(a.Env, "")
	if err != nil {
		return nil, err
	}
	settings, err := assistantSettings(a, h)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, stateDir(a.Env, home), store.Options{
		Existing: true, Retention: time.Duration(settings.WorkspaceRetention), Schedule: settings.CleanupSchedule,
	})
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil, nil
	}
	return s, err
}

// printFigures prints a table of numbers, aligned to the right; the first column and those from text
// on are aligned to the left.
func printFigures(a *console.App, rows [][]string, text int) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = console.Escape(cell)
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i > 0 && i < text {
				line.WriteString(space + cell + "  ")
			} else {
				line.WriteString(cell + space + "  ")
			}
		}
		fmt.Fprintln(a.Out, strings.TrimRight(line.String(), " "))
	}
}

// groupDigits formats a number with separated thousands.
func groupDigits(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
