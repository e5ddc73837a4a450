package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// executeIn runs a command in a sandbox that lives on.
func (a *app) executeIn(ctx context.Context, f *execFlags, args []string, relay *relay) (code int, err error) {
	box, err := a.openKept(ctx, f.in, keptAt{f.backend, f.cluster})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, box.Detach()) }()
	cmd := sandbox.Cmd{Args: args, Dir: f.cwd}
	stdio := a.stdio
	var stdout, stderr bytes.Buffer
	if f.json {
		stdio.Stdout, stdio.Stderr = &stdout, &stderr
	}
	terminal := a.ownTerminal(f)
	if terminal != nil {
		cmd.TTY = terminalSize(terminal)
	}
	res, err := startIn(ctx, box, cmd, stdio, relay, terminal)
	if err != nil {
		return 0, err
	}
	if f.json {
		res.Stdout, res.Stderr = stdout.Bytes(), stderr.Bytes()
		return res.Code, a.printJSON(newResult(box, res, refusedIn(ctx, box).all()))
	}
	a.remark(res)
	if !f.quiet {
		refusedIn(ctx, box).print(a.err)
	}
	return res.Code, nil
}

// refusedIn asks what was refused since the sandbox was opened, also to others who use it meanwhile. A sandbox that ended
// with the command has nobody to ask; its log tells.
func refusedIn(ctx context.Context, box *sandbox.Sandbox) *denials {
	d := &denials{}
	told, ok := sandbox.As[interface {
		Denials(ctx context.Context) ([]sandbox.Denial, error)
	}](box.Unwrap())
	if !ok {
		return d
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	list, _ := told.Denials(ctx) // see above
	for _, one := range list {
		d.add(one)
	}
	return d
}

// ownTerminal is the terminal that the command gets one like, nil when it gets pipes.
func (a *app) ownTerminal(f *execFlags) *os.File {
	in, ok := a.stdio.Stdin.(*os.File)
	if !ok || f.json || !isTerminal(a.stdio.Stdin) || !isTerminal(a.stdio.Stdout) {
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

// startIn is start, with the keys of our terminal for the command's own.
func startIn(ctx context.Context, box *sandbox.Sandbox, cmd sandbox.Cmd, stdio sandbox.Stdio, relay *relay, terminal *os.File) (*sandbox.Result, error) {
	if terminal == nil {
		return start(ctx, box, cmd, stdio, relay)
	}
	old, err := term.MakeRaw(int(terminal.Fd()))
	if err != nil {
		return nil, err
	}
	defer func() { _ = term.Restore(int(terminal.Fd()), old) }() // nothing better could be done
	relay.resize = func(run *sandbox.Running) { _ = run.Resize(*terminalSize(terminal)) }
	return start(ctx, box, cmd, stdio, relay)
}
