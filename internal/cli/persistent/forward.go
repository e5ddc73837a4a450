package persistent

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/proxy"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const exitForward = `  0    interrupted, which is how it ends
  125  something went wrong, or the sandbox ended`

// NewForward returns the command forward.
func NewForward(a *console.App) *cobra.Command {
	var at inventory.Place
	cmd := &cobra.Command{
		Use:   "forward [flags] NAME [HOSTPORT:]PORT...",
		Short: "forward ports of 127.0.0.1 into a sandbox",
		Long: `Connections to 127.0.0.1:HOSTPORT (PORT, when it is not given) go to PORT on the
loopback of the sandbox, until you press Ctrl-C. All users of this machine can
connect. A sandbox with connections is not idle. A pod needs --network for it, and
sandboxes in memory have no ports.`,
		Example: `agent-sandbox forward work 8080
agent-sandbox forward work 18080:8080 9229`,
		ValidArgsFunction: inventory.CompleteName(a),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return console.UsageError(cmd.CommandPath(), "forward takes the name of a sandbox and ports")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var plan policy.Plan
			for _, arg := range args[1:] {
				p, ok := policy.ParsePublish(arg)
				if !ok {
					return console.UsageError(cmd.CommandPath(), "%q is not [HOSTPORT:]PORT", arg)
				}
				plan.Publish = append(plan.Publish, p)
			}
			return forwardPorts(cmd.Context(), a, args[0], at, &plan)
		},
	}
	at.Register(cmd.Flags())
	return console.Describe(cmd, exitForward)
}

// forwardPorts serves the plan's ports until it is interrupted or the sandbox ends.
func forwardPorts(ctx context.Context, a *console.App, name string, at inventory.Place, plan *policy.Plan) (err error) {
	relay, ctx := console.StartRelay(ctx, false, a.Err.Say)
	defer relay.Stop()
	box, err := inventory.Open(ctx, a, name, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Detach()) }()
	if err := persist.CheckDial(box.Unwrap()); err != nil {
		return err
	}
	ports, err := proxy.Publish(ctx, plan)
	if err != nil {
		if sandbox.CodeOf(err) == sandbox.Exists {
			return sandbox.Errorf(sandbox.Exists, "%w", err).WithHint("take another one: agent-sandbox forward %s HOSTPORT:PORT", name)
		}
		return err
	}
	for _, p := range plan.Publish {
		a.Err.Say(fmt.Sprintf("127.0.0.1:%d is forwarded to port %d of %s", p.Host, p.Port, name))
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
			a.Err.Say(fmt.Sprintf("port %d: %v", port, err))
		}
		return conn, err
	})
	if err == nil && ctx.Err() == nil {
		return sandbox.Errorf(sandbox.Closed, "the sandbox has ended")
	}
	return err
}
