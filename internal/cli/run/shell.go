package run

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/cli/repository"
	"github.com/seed434b0696/agent-sandbox/internal/shellword"
)

// NewShell returns the command shell.
func NewShell(a *console.App) *cobra.Command {
	var f execFlags
	var rf repository.Flags
	cmd := &cobra.Command{
		Use:   "shell [flags] [PATH]",
		Short: "open a shell in a sandbox",
		Long: `A shell in a sandbox, until exit or Ctrl-D. With --backend virtual it is the one in
memory: lines are edited, Tab completes, the arrows bring back what was typed, Ctrl-C ends a
command, and lines that begin with a colon are for the sandbox:
  :diff  :apply  :discard                 what was changed in the workspace
  :snapshot [NAME]  :restore [NAME]       files and shell together
  :stats  :history                        what files take; commands with statuses
Input other than a terminal is a script. Other backends run bash.
With a PATH that 'agent-sandbox init' has prepared, or in such a directory, it is the
repository's sandbox over Docker, which is started when it does not run.`,
		Example: `agent-sandbox shell --backend virtual
agent-sandbox shell --backend virtual <script.sh
agent-sandbox shell --in work
agent-sandbox shell --ro .
agent-sandbox shell --branch feat/search ~/src/project`,
		ValidArgsFunction: repository.CompleteDirectory,
		Args:              repository.AtMostOnePath,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 || rf.IsSet() || cmd.Flags().NFlag() == 0 && repository.IsInitialisedHere() {
				if err := onlyRepoFlags(cmd); err != nil {
					return err
				}
				rf.Firewall = f.Firewall
				return ShellInRepository(cmd.Context(), a, console.First(args), &rf)
			}
			if f.in != "" {
				if err := inventory.CheckInFlags(cmd, cmd.CommandPath()); err != nil {
					return err
				}
				f.prompt = f.in
				return Exec(cmd.Context(), a, &f, []string{"bash"})
			}
			return openShell(cmd.Context(), a, &f)
		},
	}
	flags := cmd.Flags()
	f.Register(flags)
	inventory.AddInFlag(flags, &f.in)
	host.AddStageFlag(flags, &f.stage)
	flags.BoolVar(&f.apply, "apply", false, "with --backend virtual: at the end make the changes in the workspace")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not list denials")
	rf.Register(cmd, true)
	return console.Describe(cmd, console.ExitExec)
}

// promptEnv returns the environment with which bash shows the sandbox before its prompt, whatever files set that: bash runs
// PROMPT_COMMAND before each prompt. A file that sets this variable, too, takes the mark away.
func (f *execFlags) promptEnv() []string {
	if f.prompt == "" {
		return nil
	}
	mark := shellword.Quote("(" + f.prompt + ") ")
	return []string{"PROMPT_COMMAND=export -n PROMPT_COMMAND; case $PS1 in " + mark + "*) ;; *) PS1=" + mark + "$PS1 ;; esac"}
}

func openShell(ctx context.Context, a *console.App, f *execFlags) error {
	if !console.IsTerminal(a.Stdio.Stdin) || !console.IsTerminal(a.Stdio.Stdout) {
		return Exec(ctx, a, f, []string{"bash"})
	}
	refused, err := host.NewDenials(false, "", nil)
	if err != nil {
		return err
	}
	box, err := host.Create(ctx, a, &f.Options, f.stage, refused)
	if err != nil {
		return err
	}
	status, ok, err := converseInMemory(ctx, a, f, box)
	if !ok { // With other backends each command is a process of the host, as with exec.
		f.prompt = "sandbox"
		return errors.Join(err, box.Close(ctx), Exec(ctx, a, f, []string{"bash"}))
	}
	if !f.quiet {
		refused.Print(a.Err, f.IsVerbose(), status)
	}
	if err = errors.Join(err, box.Close(context.WithoutCancel(ctx))); err == nil && status != 0 {
		err = console.ExitStatus(status)
	}
	return err
}
