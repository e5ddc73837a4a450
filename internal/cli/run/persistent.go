package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"

	"golang.org/x/term"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// executeIn runs a command in a persistent sandbox.
func executeIn(ctx context.Context, a *console.App, f *execFlags, args []string, relay *console.Relay) (code int, err error) {
	box, err := inventory.Open(ctx, a, f.in, inventory.Place{Backend: f.Backend, Cluster: f.Cluster})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, box.Detach()) }()
	found, err := inventory.Find(a, f.in, inventory.Place{Backend: f.Backend, Cluster: f.Cluster})
	if err != nil {
		return 0, err
	}
	cmd := sandbox.Cmd{Args: args, Dir: cmp.Or(f.Cwd, found.Subdirectory()), Env: f.promptEnv(), Wall: f.Limits().Wall}
	stdio := a.Stdio
	var stdout, stderr bytes.Buffer
	if f.json {
		stdio.Stdout, stdio.Stderr = &stdout, &stderr
	}
	terminal := ownTerminal(a, f)
	if terminal != nil {
		cmd.TTY = terminalSize(terminal)
	}
	hidden := host.WatchIndex(found.Known.Spec.Workspace).Begin()
	res, err := startOnTerminal(ctx, box, cmd, stdio, relay, terminal)
	if err != nil {
		return 0, err
	}
	if f.json {
		res.Stdout, res.Stderr = stdout.Bytes(), stderr.Bytes()
		doc := newResult(box, res, refusedIn(ctx, box))
		doc.HiddenFiles = hidden()
		return res.Code, a.PrintJSON(doc)
	}
	printRemarks(a, res)
	if !f.quiet {
		refusedIn(ctx, box).Print(a.Err, f.IsVerbose(), res.Code)
	}
	hidden().Print(a.Err)
	return res.Code, nil
}

// refusedIn collects the denials since the sandbox was opened.
func refusedIn(ctx context.Context, box *sandbox.Sandbox) *host.Denials {
	d := &host.Denials{}
	for _, one := range inventory.Refused(ctx, box) {
		d.Add(one)
	}
	return d
}

// ownTerminal returns the terminal that the command's own one imitates, nil if the command gets pipes.
func ownTerminal(a *console.App, f *execFlags) *os.File {
	in, ok := a.Stdio.Stdin.(*os.File)
	if !ok || f.json || !console.IsTerminal(a.Stdio.Stdin) || !console.IsTerminal(a.Stdio.Stdout) {
		return nil
	}
	return in
}

func terminalSize(f *os.File) *sandbox.Terminal {
	columns, rows, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 || rows <= 0 || columns > 0xffff || rows > 0xffff {
		return &sandbox.Terminal{Rows: 24, Cols: 80}
	}
	return &sandbox.Terminal{Rows: uint16(rows), Cols: uint16(columns)}
}

// startOnTerminal starts the command on its own terminal and forwards the keys of ours.
func startOnTerminal(ctx context.Context, box *sandbox.Sandbox, cmd sandbox.Cmd, stdio sandbox.Stdio, relay *console.Relay, terminal *os.File) (*sandbox.Result, error) {
	if terminal == nil {
		return startCommand(ctx, box, cmd, stdio, relay)
	}
	relay.AwaitReady() // a signal that ended this process would leave the terminal raw
	old, err := term.MakeRaw(int(terminal.Fd()))
	if err != nil {
		return nil, err
	}
	defer func() { _ = term.Restore(int(terminal.Fd()), old) }() // an error here cannot be handled
	relay.Resize = func(run *sandbox.Running) { _ = run.Resize(*terminalSize(terminal)) }
	return startCommand(ctx, box, cmd, stdio, relay)
}
