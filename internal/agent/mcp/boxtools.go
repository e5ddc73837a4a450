package mcp

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Bounds of a client's calls.
const (
	maxBoxed   = 64       // calls at one time
	maxOutput  = 64 << 10 // bytes of stdout, and of stderr, unless the client asks for more
	mostOutput = 4 << 20
	maxFile    = 1 << 20 // bytes that read returns, unless the client asks for less
	mostFile   = 4 << 20
	maxEntries = 5000
	mostTime   = 24 * 60 * 60 // seconds
)

// boxed is a sandbox that is served.
type boxed struct {
	options BoxOptions
	slots   chan struct{}
	all     sync.WaitGroup

	mu   sync.Mutex
	over bool // no further call begins

	reopening sync.Mutex
	current   sync.RWMutex
	box       *sandbox.Sandbox // guarded by current
}

// sandbox returns the sandbox for one operation.
func (b *boxed) sandbox() *sandbox.Sandbox {
	b.current.RLock()
	defer b.current.RUnlock()
	return b.box
}

// replace replaces a sandbox that has ended, and returns the error of an operation on it with what the client needs to know.
func (b *boxed) replace(ctx context.Context, ended *sandbox.Sandbox, err error) error {
	if sandbox.CodeOf(err) != sandbox.Closed || b.options.Reopen == nil || ctx.Err() != nil {
		return err
	}
	b.reopening.Lock()
	defer b.reopening.Unlock()
	if b.sandbox() == ended {
		box, failed := b.options.Reopen(context.WithoutCancel(ctx))
		if failed != nil {
			return sandbox.Errorf(sandbox.Closed, "%w; %w", err, failed).WithHint("%s", sandbox.HintOf(failed))
		}
		b.current.Lock()
		b.box = box
		b.current.Unlock()
	}
	return sandbox.Errorf(sandbox.Closed, "%w; a new one has replaced it, without its processes and temporary files", err).
		WithHint("call the tool again")
}

// canBegin reports whether a call may begin; the call ends with b.all.Done.
func (b *boxed) canBegin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		b.all.Add(1)
	}
	return !b.over
}

// end waits until no call is running and refuses further ones.
func (b *boxed) end() {
	b.mu.Lock()
	b.over = true
	b.mu.Unlock()
	b.all.Wait()
}

// register adds the tools; life ends them.
func (b *boxed) register(life context.Context, s *sdk.Server) {
	add(life, b, s, "run", "Run a command in the sandbox and wait for its end. Processes that it leaves in the background continue; what they write afterwards is lost, so redirect it to a file. A command that fails is not an error: look at exit_code. Output beyond max_output is cut in its middle.", b.run)
	add(life, b, s, "read", "Read a file of the sandbox. Content other than UTF-8 text comes as base64.", b.read)
	add(life, b, s, "write", "Write a file of the sandbox, in one step; its directory has to be there.", b.write)
	add(life, b, s, "list", "List a directory of the sandbox, sorted by name.", b.list)
	if b.hasSnapshots(life) {
		add(life, b, s, "snapshot", "Keep the sandbox's files as they are now, under a name.", b.snapshot)
		add(life, b, s, "restore", "Put the sandbox's files back to a snapshot; all that runs is killed.", b.restore)
		add(life, b, s, "snapshots", "List the snapshots, oldest first.", b.snapshots)
	}
}

// hasSnapshots reports whether the sandbox, and not only its backend, has snapshots.
func (b *boxed) hasSnapshots(ctx context.Context) bool {
	if _, ok := sandbox.As[sandbox.Snapshotter](b.sandbox().Unwrap()); !ok {
		return false
	}
	_, err := b.sandbox().Snapshots(ctx)
	return !errors.Is(err, errors.ErrUnsupported)
}

// add adds a tool. Its schemas come from its types, and its errors are one line with a hint.
func add[In, Out any](life context.Context, b *boxed, s *sdk.Server, name, about string, f func(ctx context.Context, in In) (Out, error)) {
	sdk.AddTool(s, &sdk.Tool{Name: name, Description: about}, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Out, error) {
		var none Out
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(life, cancel)() // the client has ended
		if !b.canBegin() {
			return nil, none, errClosed()
		}
		defer b.all.Done()
		select {
		case b.slots <- struct{}{}:
			defer func() { <-b.slots }()
		case <-ctx.Done():
			return nil, none, ctx.Err()
		}
		box := b.sandbox()
		out, err := f(ctx, in)
		if err != nil {
			return nil, none, errors.New(formatError(b.replace(ctx, box, err)))
		}
		return nil, out, nil
	})
}

type runInput struct {
	Args    []string          `json:"args,omitempty" jsonschema:"the program and its arguments; run without a shell"`
	Command string            `json:"command,omitempty" jsonschema:"a command line for sh -c, in the place of args"`
	Dir     string            `json:"dir,omitempty" jsonschema:"absolute working directory inside"`
	Env     map[string]string `json:"env,omitempty" jsonschema:"more environment"`
	Stdin   string            `json:"stdin,omitempty" jsonschema:"what the command reads; empty without it"`
	Timeout int               `json:"timeout_seconds,omitempty" jsonschema:"the command is killed with all that it started after so many seconds"`
	Output  int               `json:"max_output,omitempty" jsonschema:"bytes of stdout and of stderr that are returned; 65536 without it, 4194304 at most"`
}

type runOutput struct {
	ExitCode int    `json:"exit_code" jsonschema:"128+n when signal n killed it, 124 when its time was over"`
	Signal   int    `json:"signal,omitempty"`
	Reason   string `json:"reason,omitempty" jsonschema:"why it was killed"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	Cut      bool   `json:"cut" jsonschema:"whether something of the output is missing"`
	TimedOut bool   `json:"timed_out"`
	Millis   int64  `json:"duration_ms"`
	// Refused are denials meanwhile, also those of other calls that ran at the same time.
	Refused []string `json:"refused,omitempty" jsonschema:"what the sandbox's policy refused, the rule, and the flag with which its user can allow it"`
}

func (b *boxed) run(ctx context.Context, in runInput) (runOutput, error) {
	cmd, err := b.command(in)
	if err != nil {
		return runOutput{}, err
	}
	if in.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(in.Timeout)*time.Second, errRunTime)
		defer cancel()
	}
	most := maxOutput
	if in.Output > 0 {
		most = in.Output
	}
	stdout, stderr := &ends{most: most}, &ends{most: most}
	stdio := sandbox.Stdio{Stdout: stdout, Stderr: stderr}
	if in.Stdin != "" { // an empty pipe would mislead programs that read their input if there is one
		stdio.Stdin = strings.NewReader(in.Stdin)
	}
	if b.options.Refused != nil {
		b.options.Refused(ctx) // those of calls before, which named theirs
	}
	begun := time.Now()
	res, err := b.sandbox().RunStdio(ctx, cmd, stdio)
	out := runOutput{Stdout: stdout.String(), Stderr: stderr.String(), Millis: time.Since(begun).Milliseconds()}
	if b.options.Refused != nil {
		out.Refused = b.options.Refused(ctx)
	}
	if err != nil && errors.Is(context.Cause(ctx), errRunTime) {
		out.ExitCode, out.TimedOut, out.Reason = sandbox.ExitTimeout, true, errRunTime.Error()
		out.Cut = stdout.isCut() || stderr.isCut()
		return out, nil
	}
	if exec, ok := errors.AsType[*sandbox.ExecError](err); ok { // the exit status as in a shell
		out.ExitCode, out.Stderr = exec.Code, exec.Error()+"\n"
		return out, nil
	}
	if err != nil {
		return runOutput{}, err
	}
	out.ExitCode, out.Signal, out.Reason = res.Code, res.Signal, res.Reason
	out.Cut, out.TimedOut = res.Cut || stdout.isCut() || stderr.isCut(), res.TimedOut
	return out, nil
}

var errRunTime = errors.New("its time was over")

// command returns the command to run.
func (b *boxed) command(in runInput) (sandbox.Cmd, error) {
	cmd := sandbox.Cmd{Args: in.Args, Dir: b.options.Dir, Leave: true}
	if in.Dir != "" {
		cmd.Dir = in.Dir
	}
	for name, value := range in.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return cmd, sandbox.Errorf(sandbox.Invalid, "env: %.100q cannot be the name of a variable, or its value has a NUL byte", name)
		}
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	switch {
	case (len(in.Args) == 0) == (in.Command == ""):
		return cmd, sandbox.Errorf(sandbox.Invalid, "expected either args or command")
	case in.Timeout < 0 || in.Timeout > mostTime:
		return cmd, sandbox.Errorf(sandbox.Invalid, "timeout_seconds: expected 1 to %d, got %d", mostTime, in.Timeout)
	case in.Output < 0 || in.Output > mostOutput:
		return cmd, sandbox.Errorf(sandbox.Invalid, "max_output: expected 1 to %d, got %d", mostOutput, in.Output)
	case in.Command != "":
		cmd.Args = []string{"sh", "-c", in.Command}
	}
	return cmd, nil
}
