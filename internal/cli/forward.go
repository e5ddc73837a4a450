package cli

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/proxy"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const exitForward = `  0    interrupted, which is how it ends
  125  something went wrong, or the sandbox ended`

func newForward(a *app) *cobra.Command {
	var at keptAt
	cmd := &cobra.Command{
		Use:   "forward [flags] NAME [HOSTPORT:]PORT...",
		Short: "reach ports of a sandbox on 127.0.0.1",
		Long: `Connections to 127.0.0.1:HOSTPORT (PORT, when it is not given) go to PORT on the
loopback of the sandbox, until you press Ctrl-C. Whoever can use this machine can
use them. A sandbox that is dialed is not idle.`,
		Example: `agent-sandbox forward work 8080
agent-sandbox forward work 18080:8080 9229`,
		ValidArgsFunction: a.completeName(),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usageError(cmd.CommandPath(), "forward takes the name of a sandbox and ports")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var plan policy.Plan
			for _, arg := range args[1:] {
				p, ok := policy.ParsePublish(arg)
				if !ok {
					return usageError(cmd.CommandPath(), "%q is not [HOSTPORT:]PORT", arg)
				}
				plan.Publish = append(plan.Publish, p)
			}
			return a.forward(cmd.Context(), args[0], at, &plan)
		},
	}
	at.register(cmd.Flags())
	return describe(cmd, exitForward)
}

// forward serves the plan's ports until it is interrupted or the sandbox ends.
func (a *app) forward(ctx context.Context, name string, at keptAt, plan *policy.Plan) (err error) {
	relay, ctx := startRelay(ctx, false, a.err.say)
	defer relay.stop()
	box, err := a.openKept(ctx, name, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Detach()) }()
	ports, err := proxy.Publish(ctx, plan)
	if err != nil {
		if sandbox.CodeOf(err) == sandbox.Exists {
			return sandbox.Errorf(sandbox.Exists, "%w", err).WithHint("take another one: agent-sandbox forward %s HOSTPORT:PORT", name)
		}
		return err
	}
	for _, p := range plan.Publish {
		a.err.say(fmt.Sprintf("127.0.0.1:%d leads to port %d of %s", p.Host, p.Port, name))
	}
	served, cancel := context.WithCancel(ctx)
	defer cancel()
	var ended <-chan struct{}
	if e, ok := sandbox.As[persist.Ender](box.Unwrap()); ok {
		ended = e.Ended()
		go func() {
			select {
			case <-ended:
				cancel()
			case <-served.Done():
			}
		}()
	}
	err = ports.Serve(served, func(ctx context.Context, port uint16) (net.Conn, error) {
		conn, err := box.Dial(ctx, int(port))
		if err != nil && ctx.Err() == nil {
			a.err.say(fmt.Sprintf("port %d: %v", port, err))
		}
		return conn, err
	})
	if err == nil && ctx.Err() == nil {
		return sandbox.Errorf(sandbox.Closed, "the sandbox has ended")
	}
	return err
}
