package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/assistants"
	"github.com/seed434b0696/agent-sandbox/internal/cli/changes"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/diagnosis"
	"github.com/seed434b0696/agent-sandbox/internal/cli/files"
	"github.com/seed434b0696/agent-sandbox/internal/cli/persistent"
	"github.com/seed434b0696/agent-sandbox/internal/cli/policies"
	"github.com/seed434b0696/agent-sandbox/internal/cli/repository"
	"github.com/seed434b0696/agent-sandbox/internal/cli/run"
	"github.com/seed434b0696/agent-sandbox/internal/cli/snapshots"
)

func newRoot(a *console.App) *cobra.Command {
	root := run.NewExecLike(a, "agent-sandbox")
	root.Short = "run commands that nobody has read inside a sandbox"
	root.Long = `The file system is read-only but for the current directory; secrets, sockets
and the network are out of reach, unless a policy says otherwise. In a directory that
'agent-sandbox init' has prepared, no arguments mean 'agent-sandbox shell'.`
	root.Example = `agent-sandbox -- make test
agent-sandbox exec --network npm install
agent-sandbox explain ~/.ssh`
	root.Use = "agent-sandbox [flags] -- COMMAND [ARG...]"
	root.SuggestionsMinimumDistance = 2
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(newHelp())
	root.Flags().BoolP("version", "v", false, "print the version")
	root.SetOut(a.Out)
	root.SetErr(a.Stdio.Stderr)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { console.PrintHelp(a.Out, cmd) })
	root.SetFlagErrorFunc(console.FlagError)
	root.AddCommand(
		run.NewExec(a), run.NewShell(a), persistent.NewCreate(a), persistent.NewList(a), persistent.NewStatus(a), persistent.NewStart(a), persistent.NewStop(a), persistent.NewDestroy(a),
		persistent.NewPrune(a), snapshots.NewSnapshot(a), snapshots.NewSnapshots(a), snapshots.NewRestore(a), snapshots.NewFork(a), changes.NewDiff(a), changes.NewApply(a), changes.NewDiscard(a),
		persistent.NewLogs(a), persistent.NewForward(a), files.NewPut(a), files.NewGet(a), persistent.NewKeeper(a), changes.NewStage(a), policies.NewExplain(a), diagnosis.NewCheck(a), diagnosis.NewDoctor(a), diagnosis.NewSelftest(a),
		policies.NewTrust(a), assistants.NewAgent(a), assistants.NewSkill(a), assistants.NewMCP(a), repository.NewInit(a), repository.NewBuildBase(a), repository.NewBuild(a), repository.NewCheckout(a), repository.NewShowRun(a), repository.NewVolume(a), repository.NewCodexInit(a),
		repository.NewCodexLogout(a), policies.NewImport(a), policies.NewSchema(a), newVersion(a), newCompletion(a),
	)
	return root
}

// newHelp makes "agent-sandbox help exec" mean "agent-sandbox exec --help".
func newHelp() *cobra.Command {
	cmd := &cobra.Command{
		Use:    "help [COMMAND]",
		Short:  "print the help of a command",
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return console.UsageError("agent-sandbox", "no command %q", strings.Join(args, " "))
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
	return console.Describe(cmd, console.ExitSimple)
}
