package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func newShell(a *app) *cobra.Command {
	var f execFlags
	var rf repoFlags
	cmd := &cobra.Command{
		Use:   "shell [flags] [PATH]",
		Short: "type commands inside a sandbox",
		Long: `A shell in a sandbox, until exit or Ctrl-D. With --backend virtual it is the one in
memory: lines are edited, Tab completes, the arrows bring back what was typed, Ctrl-C ends a
command, and lines that begin with a colon are for the sandbox:
  :diff  :apply  :discard                 what was changed in the workspace
  :snapshot [NAME]  :restore [NAME]       files and shell together
Input that is no terminal is a script. Other backends run bash.
With a PATH that 'agent-sandbox init' has prepared, or in such a directory, it is the
repository's sandbox over Docker, which is started when it does not run.`,
		Example: `agent-sandbox shell --backend virtual
agent-sandbox shell --backend virtual <script.sh
agent-sandbox shell --in work
agent-sandbox shell --ro .
agent-sandbox shell --branch feat/search ~/src/project`,
		ValidArgsFunction: completeDirectory,
		Args:              atMostOnePath,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 || rf.set() || cmd.Flags().NFlag() == 0 && initialisedHere() {
				if err := onlyRepoFlags(cmd); err != nil {
					return err
				}
				return a.shellInRepo(cmd.Context(), first(args), &rf)
			}
			if f.in != "" {
				if err := checkIn(cmd, cmd.CommandPath()); err != nil {
					return err
				}
				return a.exec(cmd.Context(), &f, []string{"bash"})
			}
			return a.shell(cmd.Context(), &f)
		},
	}
	flags := cmd.Flags()
	f.register(flags)
	addIn(flags, &f.in)
	addStage(flags, &f.stage)
	flags.BoolVar(&f.apply, "apply", false, "with --backend virtual: at the end make the changes in the workspace")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not list what was refused")
	rf.register(cmd, true)
	return describe(cmd, exitExec)
}

func (a *app) shell(ctx context.Context, f *execFlags) error {
	if !isTerminal(a.stdio.Stdin) || !isTerminal(a.stdio.Stdout) {
		return a.exec(ctx, f, []string{"bash"})
	}
	refused, err := newDenials(false, "")
	if err != nil {
		return err
	}
	box, err := a.open(ctx, &f.options, f.stage, refused)
	if err != nil {
		return err
	}
	sessions, ok := sandbox.As[virtual.Sessions](box.Unwrap())
	if !ok { // Of the others each command is a process of the host, as with exec.
		return errors.Join(box.Close(ctx), a.exec(ctx, f, []string{"bash"}))
	}
	status, err := a.converse(ctx, f, box, sessions)
	if !f.quiet {
		refused.print(a.err)
	}
	if err = errors.Join(err, box.Close(context.WithoutCancel(ctx))); err == nil && status != 0 {
		err = exitStatus(status)
	}
	return err
}

// converse runs a session until its end and settles what it changed.
func (a *app) converse(ctx context.Context, f *execFlags, box *sandbox.Sandbox, sessions virtual.Sessions) (int, error) {
	session, err := sessions.NewSession(ctx)
	if err != nil {
		return 0, err
	}
	memory, err := memoryOf(box, f.apply)
	if err != nil {
		return 0, err
	}
	c, err := newConversation(a, session, memory)
	if err != nil {
		session.Close()
		return 0, err
	}
	status, err := c.run(ctx)
	session.Close()
	if err = errors.Join(err, c.close()); err != nil {
		return status, err
	}
	done := a.remarkMemory(ctx, memory, f, 0)
	if code, ok := errors.AsType[exitStatus](done); ok {
		return int(code), nil
	}
	return status, done
}

// printChanges is :diff.
func (c *conversation) printChanges() error {
	list, err := c.memory.workspace.Changes()
	if err != nil {
		return err
	}
	for _, change := range list {
		fmt.Fprintf(c.app.out, "%s\t%s\n", change.Kind, stage.Quote(change.Path))
	}
	return nil
}
