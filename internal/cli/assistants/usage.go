package assistants

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// usageFlags are the flags of agent usage.
type usageFlags struct {
	by, user, assistant string
	from, to            string    // as given
	first, end          time.Time // start of the first day and end of the last one; zero: no bound
	json                bool
}

func newAgentUsage(a *console.App) *cobra.Command {
	var f usageFlags
	cmd := &cobra.Command{
		Use:   "usage [flags]",
		Short: "sum up what assistants have used and cost",
		Long: `INPUT does not count tokens that were read from or written to a cache. The cost is the
sum over the runs whose cost is known. UNFINISHED counts runs that have not ended, and
those whose processes were killed; the sums have their last recorded usage.`,
		Example: `agent-sandbox agent usage --by day --from 2026-01-01 --to 2026-01-31
agent-sandbox agent usage --by model --user ann
agent-sandbox agent usage --json | jq '.total.cost_usd'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := console.NoArgs(cmd, args); err != nil {
				return err
			}
			return f.parse(cmd)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return printUsage(cmd.Context(), a, f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.by, "by", "user", "a line for each `WHAT`: user, assistant, model or day")
	flags.StringVar(&f.from, "from", "", "runs that began on this `DAY`, as in 2026-01-31, or later")
	flags.StringVar(&f.to, "to", "", "runs that began on this `DAY` or earlier")
	flags.StringVar(&f.user, "user", "", "runs of one `USER`")
	flags.StringVar(&f.assistant, "assistant", "", "runs of one assistant, by its `NAME`")
	flags.BoolVar(&f.json, "json", false, "print one JSON document")
	console.Describe(cmd, console.ExitSimple)
	whats := func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return sumsBy(), cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc("by", whats); err != nil {
		panic(err) // only if the flag is missing
	}
	return cmd
}

func sumsBy() []string { return []string{"user", "assistant", "model", "day"} }

// parse parses the flags. Days are in this machine's time zone.
func (f *usageFlags) parse(cmd *cobra.Command) error {
	if !slices.Contains(sumsBy(), f.by) {
		return console.UsageError(cmd.CommandPath(), "--by: expected user, assistant, model or day, got %q", f.by)
	}
	for _, day := range []struct {
		flag, text string
		at         *time.Time
	}{{"--from", f.from, &f.first}, {"--to", f.to, &f.end}} {
		if day.text == "" {
			continue
		}
		at, err := time.ParseInLocation(time.DateOnly, day.text, time.Local)
		if err != nil {
			return console.UsageError(cmd.CommandPath(), "%s: expected a day as in 2026-01-31, got %q", day.flag, day.text)
		}
		*day.at = at
	}
	if f.to != "" {
		f.end = f.end.AddDate(0, 0, 1)
	}
	if f.from != "" && f.to != "" && !f.first.Before(f.end) {
		return console.UsageError(cmd.CommandPath(), "--from %s is after --to %s", f.from, f.to)
	}
	return nil
}
