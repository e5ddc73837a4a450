// Package run has the commands exec and shell, which run commands in a sandbox.
package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/backend/virtual/workspace"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/cli/repository"
	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// execFlags are the flags of exec.
type execFlags struct {
	host.Options
	stage  string // empty: the workspace itself
	in     string // a persistent sandbox; empty: one for this command
	apply  bool   // apply the changes that a backend holds in memory
	dryRun bool
	json   bool
	quiet  bool
	events string // file for denials as they occur; empty: none
	record string // file for a proposed policy; empty: none
	prompt string // what stands before bash's prompt; empty: nothing
}

// NewExec returns the command exec.
func NewExec(a *console.App) *cobra.Command {
	cmd := NewExecLike(a, "agent-sandbox exec")
	cmd.Use = "exec [flags] [--] COMMAND [ARG...]"
	cmd.Short = "run a command in a sandbox"
	cmd.SuggestFor = []string{"run"}
	cmd.Long = `Flags end at the command: everything after its name belongs to it. Relative
paths are relative to the working directory (-C). Flags that take a PATH, NAME or
NAME=VALUE may be repeated; they count as the last layer of the configuration.`
	cmd.Example = `agent-sandbox exec make test
agent-sandbox exec --network --rw ~/.cache/pip -- pip install -e .
agent-sandbox exec --exclude .env --cmd git=false --limit wall=10m,pids=500 ./agent
agent-sandbox exec --stage -- npm audit fix && agent-sandbox stage diff
agent-sandbox create work && agent-sandbox exec --in work -- make test
agent-sandbox exec --json -- go vet ./...
agent-sandbox exec --dry-run -- make test | bash`
	return cmd
}

// NewExecLike returns a command that runs its arguments as a command: exec, and the
// root command, for which the arguments must follow "--".
func NewExecLike(a *console.App, path string) *cobra.Command {
	var f execFlags
	cmd := &cobra.Command{
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			if v := cmd.Flags().Lookup("version"); v != nil && v.Changed {
				fmt.Fprintln(a.Out, console.CurrentBuild())
				return nil
			}
			switch {
			case !cmd.HasParent() && cmd.Flags().NFlag() == 0 && len(args) == 0 && dash < 0:
				if repository.IsInitialisedHere() {
					return ShellInRepository(cmd.Context(), a, "", &repository.Flags{})
				}
				return cmd.Help()
			case !cmd.HasParent() && dash != 0 && len(args) > 0:
				return unknownCommand(a, cmd, args)
			case len(args) == 0 || args[0] == "":
				return console.UsageError(path, "no command was given")
			case f.IsVerbose() && isDockerVolume(args[0]):
				return console.UsageError(path, "-v is --verbose, and %q is not a command; to open a directory: --rw PATH, at the same path inside and outside", args[0])
			case f.in != "":
				if err := inventory.CheckInFlags(cmd, path, "limit"); err != nil {
					return err
				}
				if l := f.Limits(); l != (sandbox.Limits{Wall: l.Wall}) {
					return console.UsageError(path, "--in supports only --limit wall=TIME; the other limits are fixed when the sandbox is created")
				}
			case f.dryRun && f.stage != "":
				return console.UsageError(path, "--dry-run cannot show a stage")
			}
			return Exec(cmd.Context(), a, &f, args)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // the rest belongs to the command, even -h
	f.Register(flags)
	inventory.AddInFlag(flags, &f.in)
	host.AddStageFlag(flags, &f.stage)
	flags.BoolVar(&f.apply, "apply", false, "with --backend virtual: make the changes of a command that succeeds in the\nworkspace; without it they are gone with the sandbox")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the command line that would run, quoted for a shell")
	flags.BoolVar(&f.json, "json", false, "collect the output and print the result as one JSON document")
	addDenialFlags(flags, &f)
	return console.Describe(cmd, console.ExitExec)
}

// isDockerVolume reports whether a command has the form of docker's -v argument, HOST:PATH.
func isDockerVolume(command string) bool {
	from, to, ok := strings.Cut(command, ":")
	return ok && strings.HasPrefix(to, "/") && strings.ContainsAny(from[:min(1, len(from))], "./~$")
}

// addDenialFlags adds the flags for what happens with denials.
func addDenialFlags(flags *pflag.FlagSet, f *execFlags) {
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not list denials")
	flags.StringVar(&f.events, "events", "", "append each denial to `FILE` as it happens, one line of JSON each")
	flags.StringVar(&f.record, "record", "", "add denials to `FILE`, as a policy that would allow them;\nnothing is allowed by that")
}

// Exec runs a command and returns its exit status.
func Exec(ctx context.Context, a *console.App, f *execFlags, args []string) error {
	relay, ctx := console.BeginRelay(ctx, a.HasControllingTerminal(), a.Err.Say)
	var code int
	var err error
	if f.in != "" {
		code, err = executeIn(ctx, a, f, args, relay)
	} else {
		code, err = executeNew(ctx, a, f, args, relay)
	}
	stop := relay.End
	if err != nil { // what is printed then can be all that this process does for a while
		stop = relay.Stop
	}
	// Whatever a start reports that a signal has interrupted, the signal is the reason.
	if sig := stop(); sig != 0 && (err == nil || errors.Is(err, context.Canceled) || !relay.HasAttached()) {
		code, err = 128+int(sig), nil
		a.Err.Say("killed after " + sig.String())
	}
	if f.json && err != nil {
		err = errors.Join(err, a.PrintJSON(failureResult(err)))
	}
	if err == nil && code != 0 {
		err = console.ExitStatus(code)
	}
	return err
}

func executeNew(ctx context.Context, a *console.App, f *execFlags, args []string, relay *console.Relay) (code int, err error) {
	var writable hostfile.Writable
	if f.events != "" || f.record != "" {
		if writable, err = host.WritableBy(a, &f.Options); err != nil {
			return 0, err
		}
	}
	refused, err := host.NewDenials(f.record != "", f.events, writable)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, refused.Close()) }()
	proposed, err := newRecord(f.record, writable)
	if err != nil {
		return 0, err
	}
	defer proposed.close()
	h, err := host.Locate(a.Env, f.Cwd)
	if err != nil {
		return 0, err
	}
	index := host.WatchIndex(h.Workspace)
	f.Preview = f.dryRun
	remark := newTmpRemark(a, h, f)
	f.TmpLeft = remark.hook()
	box, err := host.Create(ctx, a, &f.Options, f.stage, refused)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, box.Close(context.WithoutCancel(ctx))) }()
	memory, err := memoryOf(box, h.Data, f.apply)
	if err != nil {
		return 0, err
	}
	cmd := sandbox.Cmd{Args: args, Env: f.promptEnv()}
	if f.dryRun {
		return 0, printDryRun(a, box, cmd)
	}
	if !f.quiet && !f.json {
		warnOfMissing(a, box)
	}
	stdio := a.Stdio
	var stdout, stderr bytes.Buffer
	if f.json {
		stdio.Stdout, stdio.Stderr = &stdout, &stderr
	}
	trace := f.Trace(a)
	if trace != nil {
		trace("process", fmt.Sprintf("start %q in %s sandbox %s", args, box.Backend(), box.ID()))
	}
	hidden := index.Begin()
	res, err := startCommand(ctx, box, cmd, stdio, relay)
	if err != nil {
		return 0, err
	}
	if trace != nil {
		traceResult(trace, res)
	}
	if err := proposed.add(refused.All()); err != nil {
		return res.Code, err
	}
	if f.json {
		res.Stdout, res.Stderr = stdout.Bytes(), stderr.Bytes()
		doc := newResult(box, res, refused)
		doc.Stage, err = reportStage(a, f.Cwd, f.stage)
		staged := err
		doc.Changes, err = memory.finish(ctx, f.apply && res.Code == 0)
		doc.HiddenFiles = hidden()
		return res.Code, errors.Join(staged, err, a.PrintJSON(doc))
	}
	printRemarks(a, res)
	remark.print(a)
	if err := printMemoryRemark(ctx, a, memory, f, res.Code); err != nil {
		return res.Code, err
	}
	if !f.quiet {
		refused.Print(a.Err, f.IsVerbose(), res.Code)
		printGitAdvice(ctx, a, box, args, refused, res.Code)
	}
	hidden().Print(a.Err)
	return res.Code, printStageRemark(a, f.Cwd, f.stage)
}

// startCommand runs cmd, forwards signals to it and waits.
func startCommand(ctx context.Context, box *sandbox.Sandbox, cmd sandbox.Cmd, stdio sandbox.Stdio, relay *console.Relay) (*sandbox.Result, error) {
	relay.BeginStart()
	begin := time.Now()
	run, err := box.Start(ctx, cmd, stdio)
	if err != nil {
		return nil, err
	}
	_, ours := sandbox.As[workspace.Workspace](box.Unwrap())
	_, elsewhere := sandbox.As[sandbox.Detacher](box.Unwrap())
	relay.Attach(console.Target{Run: run, Local: ours || elsewhere})
	exit, err := run.Wait()
	return &sandbox.Result{Exit: exit, Cut: run.IsCut(), TimedOut: run.HasTimedOut(), Duration: time.Since(begin)}, err
}

// printRemarks reports why the sandbox killed the command or cut its output.
func printRemarks(a *console.App, res *sandbox.Result) {
	if res.Reason != "" {
		a.Err.Say("the command was killed: " + res.Reason)
	}
	if res.Cut {
		a.Err.Say("the output was cut at its limit")
	}
}

func traceResult(trace func(phase, line string), res *sandbox.Result) {
	trace("process", fmt.Sprintf("exit status %d after %s", res.Code, res.Duration.Round(time.Millisecond)))
}

// dryRunner is implemented by a backend that can show its command line.
type dryRunner interface {
	DryRun(cmd sandbox.Cmd) (string, error)
}

func printDryRun(a *console.App, box *sandbox.Sandbox, cmd sandbox.Cmd) error {
	d, ok := sandbox.As[dryRunner](box.Unwrap())
	if !ok {
		return sandbox.Errorf(sandbox.Unsupported, "backend %s has no command line to show", box.Backend()).
			WithHint("see 'agent-sandbox explain' for what the policy allows")
	}
	line, err := d.DryRun(cmd)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.Out, line)
	return nil
}

// warnOfMissing names the paths of --rw that do not exist.
func warnOfMissing(a *console.App, box *sandbox.Sandbox) {
	p, ok := sandbox.As[interface{ Plan() *policy.Plan }](box.Unwrap())
	if !ok {
		return
	}
	plan := p.Plan()
	for _, r := range plan.Rules {
		if !r.Missing || !r.Exact || r.Access != policy.ReadWrite || r.Layer != policy.LayerFlags || r.Preset != "" {
			continue
		}
		if access, _ := plan.Access(r.Path); access != policy.ReadWrite { // it can be made inside
			a.Err.Say(fmt.Sprintf("--rw %s does not exist, so commands cannot write there; create it with: mkdir -p %s", jsonc.OneLine(r.Pattern), shellword.Quote(r.Path)))
		}
	}
}

// printGitAdvice says how a git command that failed works.
func printGitAdvice(ctx context.Context, a *console.App, box *sandbox.Sandbox, args []string, refused *host.Denials, status int) {
	p, ok := sandbox.As[interface{ Plan() *policy.Plan }](box.Unwrap())
	if !ok || status == 0 || box.Backend() != "bwrap" {
		return
	}
	plan := p.Plan()
	if advice := host.GitAdvice(ctx, args, a.Env, plan.Dir, plan, refused.All()); advice != "" {
		a.Err.Line("hint: " + advice)
	}
}

// unknownCommand returns the error for "agent-sandbox ls".
func unknownCommand(a *console.App, root *cobra.Command, args []string) error {
	e := sandbox.Errorf(sandbox.Invalid, "unknown command %q", args[0])
	for _, c := range root.Commands() {
		if slices.Contains(c.SuggestFor, args[0]) { // before those that are only spelled alike
			return e.WithHint("did you mean 'agent-sandbox %s'?", strings.Join(append([]string{c.Name()}, args[1:]...), " "))
		}
	}
	_, err := exec.LookPath(args[0])
	if near := root.SuggestionsFor(args[0]); len(near) > 0 && err != nil {
		return e.WithHint("did you mean 'agent-sandbox %s'?", near[0])
	}
	return e.WithHint("to run it inside a sandbox: agent-sandbox %s", shellword.Join(slices.Concat(a.Args[:max(len(a.Args)-len(args), 0)], []string{"--"}, args)...))
}
