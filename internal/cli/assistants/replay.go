package assistants

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/transcript"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

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
		Long: `FILE is what an agent printed, '-' standard input, which is printed as it comes:
  claude   claude --print --verbose --output-format stream-json
  codex    codex exec --json
  cursor   agent --print --output-format stream-json
  events   what --json of this command prints
The agent's own words are indented, what is said about them is not, and control
characters are shown and not obeyed. A run is a success only when its result says so.`,
		Example: `agent-sandbox agent replay run.jsonl
claude -p --verbose --output-format stream-json 'fix the test' | agent-sandbox agent replay -
agent-sandbox agent replay --json run.jsonl | jq 'select(.response) | .response.usage'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.format != "" && !slices.Contains(transcript.Formats(), f.format) {
				return console.UsageError(cmd.CommandPath(), "--format: expected claude, codex, cursor or events, got %q", f.format)
			}
			return console.ArgsBetween(1, 1, "one file, or '-'")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return replayRun(cmd.Context(), a, args[0], f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "the `FORMAT`: claude, codex, cursor or events; else it is found out")
	flags.BoolVar(&f.json, "json", false, "print events as JSON lines, the response last")
	flags.BoolVar(&f.thinking, "thinking", false, "also print what the model thought")
	console.Describe(cmd, `  0    the recorded run succeeded
  1    it failed, or was over before it had a result
  125  something went wrong, and what FILE is, is not a recorded run`)
	formats := func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return transcript.Formats(), cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc("format", formats); err != nil {
		panic(err) // only for a flag that does not exist
	}
	return cmd
}

func replayRun(ctx context.Context, a *console.App, name string, f replayFlags) error {
	in := a.Stdio.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	r, err := printReplay(ctx, a, in, f)
	if err != nil && name != "-" && sandbox.CodeOf(err) == sandbox.Invalid {
		return sandbox.Errorf(sandbox.Invalid, "%s: %w", name, err).WithHint("%s", sandbox.HintOf(err))
	}
	err = errors.Join(err, a.Out.Err)
	if err == nil && !r.OK() {
		err = console.ExitStatus(1)
	}
	return err
}

// printReplay prints the events as they come, and then what they come to.
func printReplay(ctx context.Context, a *console.App, in io.Reader, f replayFlags) (event.Response, error) {
	var fold event.Fold
	say := &agentPrinter{out: a.Out, thinking: f.thinking}
	tell, finish := say.print, say.finish
	if f.json {
		enc := json.NewEncoder(a.Out)
		enc.SetEscapeHTML(false)
		tell = func(e event.Event) { _ = enc.Encode(e) } // the output keeps its error
		finish = func(r event.Response) { tell(event.Event{Kind: event.ResponseFolded, Response: &r}) }
	}
	for e, err := range transcript.Events(ctx, in, f.format) {
		if err != nil {
			return event.Response{}, err
		}
		fold.Add(e)
		tell(e)
		if a.Out.Err != nil {
			return event.Response{}, nil // the caller looks at it
		}
	}
	r := fold.Response()
	finish(r)
	return r, nil
}
