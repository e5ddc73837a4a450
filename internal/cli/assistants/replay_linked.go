//go:build agent

package assistants

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/transcript"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func replayRun(ctx context.Context, a *console.App, name string, f replayFlags) error {
	in := a.Stdio.Stdin
	if name != "-" {
		file, err := hostfile.Open(name, os.O_RDONLY, 0, host.WritableHere(a))
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

// printReplay prints the events as they come, and then their response.
func printReplay(ctx context.Context, a *console.App, in io.Reader, f replayFlags) (event.Response, error) {
	var fold event.Fold
	say := &agentPrinter{out: a.Out, thinking: f.thinking}
	tell, finish := say.print, say.finish
	if f.json {
		enc := a.NewEncoder()
		tell = func(e event.Event) { _ = enc.Encode(e) } // the output remembers its error
		finish = func(r event.Response) { tell(event.Event{Kind: event.ResponseFolded, Response: &r}) }
	}
	for e, err := range transcript.Events(ctx, in, f.format) {
		if err != nil {
			return event.Response{}, err
		}
		fold.Add(e)
		tell(e)
		if a.Out.Err != nil {
			return event.Response{}, nil // the caller checks it
		}
	}
	r := fold.Response()
	finish(r)
	return r, nil
}
