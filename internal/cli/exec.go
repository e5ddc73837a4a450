package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// execFlags are the flags of exec.
type execFlags struct {
	options
	stage  string // empty: the workspace itself
	in     string // a sandbox that lives on; empty: one for this command
	apply  bool   // make the changes that a backend keeps in memory
	dryRun bool
	json   bool
	quiet  bool
	events string // file for refusals as they happen; empty: none
	record string // file for a proposed policy; empty: none
}

func newExec(a *app) *cobra.Command {
	cmd := newExecLike(a, "agent-sandbox exec")
	cmd.Use = "exec [flags] [--] COMMAND [ARG...]"
	cmd.Short = "run a command inside a sandbox"
	cmd.Long = `Flags end at the command: everything after its name belongs to it. Relative
paths are relative to the working directory (-C). Flags that take a PATH, NAME or
NAME=VALUE may be repeated; they count as the last layer of the configuration.`
	cmd.Example = `agent-sandbox exec make test
agent-sandbox exec --network --rw ~/.cache/pip -- pip install -e .
agent-sandbox exec --exclude .env --cmd git=false --limit wall=10m,memory=2GiB ./agent
agent-sandbox exec --stage -- npm audit fix && agent-sandbox stage diff
agent-sandbox create work && agent-sandbox exec --in work -- make test
agent-sandbox exec --json -- go vet ./...
agent-sandbox exec --dry-run -- make test | bash`
	return cmd
}

// newExecLike makes a command that runs what its arguments say: exec, and the
// root command, for which the arguments must stand behind "--".
func newExecLike(a *app, path string) *cobra.Command {
	var f execFlags
	cmd := &cobra.Command{
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			if v := cmd.Flags().Lookup("version"); v != nil && v.Changed {
				fmt.Fprintln(a.out, currentBuild())
				return nil
			}
			switch {
			case !cmd.HasParent() && cmd.Flags().NFlag() == 0 && len(args) == 0 && dash < 0:
				if initialisedHere() {
					return a.shellInRepo(cmd.Context(), "", &repoFlags{})
				}
				return cmd.Help()
			case !cmd.HasParent() && dash != 0 && len(args) > 0:
				return unknownCommand(cmd, args)
			case len(args) == 0 || args[0] == "":
				return usageError(path, "no command was given")
			case f.in != "":
				if err := checkIn(cmd, path); err != nil {
					return err
				}
			case f.dryRun && f.stage != "":
				return usageError(path, "--dry-run cannot show a stage")
			}
			return a.exec(cmd.Context(), &f, args)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows the command belongs to it, also -h
	f.register(flags)
	addIn(flags, &f.in)
	addStage(flags, &f.stage)
	flags.BoolVar(&f.apply, "apply", false, "with --backend virtual: make the changes of a command that succeeds in the\nworkspace; without it they are gone with the sandbox")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the command line that would run, quoted for a shell")
	flags.BoolVar(&f.json, "json", false, "collect the output and print the result as one JSON document")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not list what was refused")
	flags.StringVar(&f.events, "events", "", "append what is refused to `FILE` as it happens, a line of JSON each")
	flags.StringVar(&f.record, "record", "", "add what was refused to `FILE`, as a policy that would allow it;\nnothing is allowed by that")
	return describe(cmd, exitExec)
}

// exec runs a command and ends with its exit status.
func (a *app) exec(ctx context.Context, f *execFlags, args []string) error {
	relay, ctx := startRelay(ctx, a.sharesTerminal(), a.err.say)
	var code int
	var err error
	if f.in != "" {
		code, err = a.executeIn(ctx, f, args, relay)
	} else {
		code, err = a.execute(ctx, f, args, relay)
	}
	if sig := relay.stop(); sig != 0 && (err == nil || errors.Is(err, context.Canceled)) {
		code, err = 128+int(sig), nil
		a.err.say("killed after " + sig.String())
	}
	if f.json && err != nil {
		err = errors.Join(err, a.printJSON(failure(err)))
	}
	if err == nil && code != 0 {
		err = exitStatus(code)
	}
	return err
}

func (a *app) execute(ctx context.Context, f *execFlags, args []string, relay *relay) (code int, err error) {
	refused, err := newDenials(f.record != "", f.events)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, refused.close()) }()
	box, err := a.open(ctx, &f.options, f.stage, refused)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, box.Close(context.WithoutCancel(ctx))) }()
	memory, err := memoryOf(box, f.apply)
	if err != nil {
		return 0, err
	}
	cmd := sandbox.Cmd{Args: args}
	if f.dryRun {
		return 0, a.dryRun(box, cmd)
	}
	stdio := a.stdio
	var stdout, stderr bytes.Buffer
	if f.json {
		stdio.Stdout, stdio.Stderr = &stdout, &stderr
	}
	if f.debug {
		a.err.debug("process", fmt.Sprintf("start %q in %s sandbox %s", args, box.Backend(), box.ID()))
	}
	res, err := start(ctx, box, cmd, stdio, relay)
	if err != nil {
		return 0, err
	}
	if f.debug {
		a.debugResult(res)
	}
	if f.record != "" {
		if err := record(f.record, refused.all()); err != nil {
			return res.Code, err
		}
	}
	if f.json {
		res.Stdout, res.Stderr = stdout.Bytes(), stderr.Bytes()
		doc := newResult(box, res, refused.all())
		doc.Stage, err = a.stageReport(f.cwd, f.stage)
		kept := err
		doc.Changes, err = memory.finish(ctx, f.apply && res.Code == 0)
		return res.Code, errors.Join(kept, err, a.printJSON(doc))
	}
	a.remark(res)
	if err := a.remarkMemory(ctx, memory, f, res.Code); err != nil {
		return res.Code, err
	}
	if !f.quiet {
		refused.print(a.err)
	}
	return res.Code, a.remarkStage(f.cwd, f.stage)
}

// start runs cmd and waits, while signals reach it.
func start(ctx context.Context, box *sandbox.Sandbox, cmd sandbox.Cmd, stdio sandbox.Stdio, relay *relay) (*sandbox.Result, error) {
	begin := time.Now()
	run, err := box.Start(ctx, cmd, stdio)
	if err != nil {
		return nil, err
	}
	_, ours := sandbox.As[virtual.Workspace](box.Unwrap())
	_, elsewhere := sandbox.As[sandbox.Detacher](box.Unwrap())
	relay.attach(target{run, ours || elsewhere})
	exit, err := run.Wait()
	return &sandbox.Result{Exit: exit, Cut: run.Cut(), TimedOut: run.TimedOut(), Duration: time.Since(begin)}, err
}

// remark says what the command itself could not: why it was killed or shortened.
func (a *app) remark(res *sandbox.Result) {
	if res.Reason != "" {
		a.err.say("the command was killed: " + res.Reason)
	}
	if res.Cut {
		a.err.say("the output was cut at its limit")
	}
}

func (a *app) debugResult(res *sandbox.Result) {
	a.err.debug("process", fmt.Sprintf("exit status %d after %s", res.Code, res.Duration.Round(time.Millisecond)))
}

// dryRunner is what a backend has that can show its command line.
type dryRunner interface {
	DryRun(cmd sandbox.Cmd) (string, error)
}

func (a *app) dryRun(box *sandbox.Sandbox, cmd sandbox.Cmd) error {
	d, ok := sandbox.As[dryRunner](box.Unwrap())
	if !ok {
		return sandbox.Errorf(sandbox.Unsupported, "backend %s has no command line to show", box.Backend()).
			WithHint("see 'agent-sandbox explain' for what the policy allows")
	}
	line, err := d.DryRun(cmd)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, line)
	return nil
}

// unknownCommand is the answer to "agent-sandbox ls".
func unknownCommand(root *cobra.Command, args []string) error {
	e := sandbox.Errorf(sandbox.Invalid, "unknown command %q", args[0])
	_, err := exec.LookPath(args[0])
	if near := root.SuggestionsFor(args[0]); len(near) > 0 && err != nil {
		return e.WithHint("did you mean 'agent-sandbox %s'?", near[0])
	}
	return e.WithHint("to run it inside a sandbox: agent-sandbox -- %s", strings.Join(args, " "))
}
