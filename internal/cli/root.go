package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

func newRoot(a *app) *cobra.Command {
	root := newExecLike(a, "agent-sandbox")
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
	root.SetOut(a.out)
	root.SetErr(a.stdio.Stderr)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { printHelp(a.out, cmd) })
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		newExec(a), newShell(a), newCreate(a), newList(a), newStatus(a), newStart(a), newStop(a), newDestroy(a),
		newPrune(a), newSnapshot(a), newSnapshots(a), newRestore(a), newFork(a), newDiff(a), newApply(a), newDiscard(a),
		newLogs(a), newForward(a), newPut(a), newGet(a), newKeeper(a), newStage(a), newExplain(a), newCheck(a), newDoctor(a), newSelftest(a),
		newTrust(a), newAgent(a), newSkill(a), newMCP(a), newInit(a), newBuildBase(a), newBuild(a), newCheckout(a), newShowRun(a), newVolume(a), newCodexInit(a),
		newCodexLogout(a), newImport(a), newSchema(a), newVersion(a), newCompletion(a),
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
				return usageError("agent-sandbox", "no command %q", strings.Join(args, " "))
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
	return describe(cmd, exitSimple)
}
