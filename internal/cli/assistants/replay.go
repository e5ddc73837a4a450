package assistants

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// replayFormats are the values of --format; package transcript reads these formats.
var replayFormats = []string{"claude", "codex", "cursor", "events"}

// replayFlags are the flags of agent replay.
type replayFlags struct {
	format         string
	json, thinking bool
}

func newAgentReplay(a *console.App) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay [flags] FILE",
		Short: "print a recorded run of an agent",
		Long: `FILE is the output of an agent; '-' is standard input, whose events are printed as they
arrive. The formats are the outputs of:
  claude   claude --print --verbose --output-format stream-json
  codex    codex exec --json
  cursor   agent --print --output-format stream-json
  events   this command with --json
The agent's text is indented, other lines are not; control characters are escaped. A run
succeeded only if its result says so.`,
		Example: `agent-sandbox agent replay run.jsonl
claude -p --verbose --output-format stream-json 'fix the test' | agent-sandbox agent replay -
agent-sandbox agent replay --json run.jsonl | jq 'select(.response) | .response.usage'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.format != "" && !slices.Contains(replayFormats, f.format) {
				return console.UsageError(cmd.CommandPath(), "--format: expected claude, codex, cursor or events, got %q", f.format)
			}
			return console.ArgsBetween(1, 1, "one file, or '-'")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return replayRun(cmd.Context(), a, args[0], f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "the `FORMAT`: claude, codex, cursor or events; without it the format is detected")
	flags.BoolVar(&f.json, "json", false, "print events as JSON lines, the response last")
	flags.BoolVar(&f.thinking, "thinking", false, "also print what the model thought")
	console.Describe(cmd, `  0    the recorded run succeeded
  1    it failed, or was over before it had a result
  125  something went wrong, and what FILE is, is not a recorded run`)
	formats := func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return replayFormats, cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc("format", formats); err != nil {
		panic(err) // only for a flag that does not exist
	}
	return cmd
}
