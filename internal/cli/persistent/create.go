// Package persistent has the commands that create, list, start, stop and destroy persistent sandboxes.
package persistent

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// NewCreate returns the command create.
func NewCreate(a *console.App) *cobra.Command {
	var f host.Options
	var k inventory.Lifetime
	var limit console.Timeout
	cmd := &cobra.Command{
		Use:   "create [flags] [NAME]",
		Short: "create a persistent sandbox",
		Long: `The sandbox has this policy until it is destroyed, and its commands share what
is in its /tmp and what runs in the background. Without a NAME it gets one, which
is printed. A pod (--backend kube) is usable by all users of its namespace, and
works on a volume with a copy of the project; this machine records where it is, so
that the other commands find it by its name.`,
		Example: `agent-sandbox create work
agent-sandbox exec --in work -- npm install
agent-sandbox create --allow packages.example.com --idle 30m --ttl 8h
agent-sandbox create --backend kube --network --image node:22 --storage 20GiB web
agent-sandbox destroy work`,
		Args: console.AtMostOneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := chooseName(args)
			if err != nil {
				return err
			}
			if k.Idle < 0 || k.TTL < 0 || k.Warm < 0 {
				return console.UsageError(cmd.CommandPath(), "--idle, --ttl and --warm are not negative")
			}
			f.Cluster.Storage, f.Cluster.StorageClass = k.Storage, k.StorageClass
			return limit.Run(cmd.Context(), func(ctx context.Context) error { return createSandbox(ctx, a, &f, k, name) })
		},
	}
	f.Register(cmd.Flags())
	k.Register(cmd.Flags())
	limit.Register(cmd.Flags())
	return console.Describe(cmd, console.ExitLimited)
}

func chooseName(args []string) (string, error) {
	if len(args) == 1 {
		return args[0], persist.CheckName(args[0])
	}
	return persist.NewID()
}

func createSandbox(ctx context.Context, a *console.App, f *host.Options, k inventory.Lifetime, name string) error {
	relay, ctx := console.StartRelay(ctx, false, a.Err.Say)
	defer relay.Stop()
	h, err := host.Locate(a.Env, f.Cwd)
	if err != nil {
		return err
	}
	spec, err := host.NewSpec(a, h, f)
	if err != nil {
		return err
	}
	spec.Stage, spec.Name = k.Stage, name
	backend := f.Backend
	if backend == "" {
		backend = host.ConfiguredBackend(spec.Layers)
	}
	if err := k.Check(backend); err != nil {
		return err
	}
	use := host.DriverOptions{Cluster: f.Cluster, Trace: f.Trace(a), Notice: a.Err.Say}
	d, err := inventory.NewLifecycle(backend, h, use, k)
	if err == nil {
		err = inventory.CheckVacant(ctx, a, h, name)
	}
	if err != nil {
		return err
	}
	host.CreateCaches(spec, backend)
	box, err := sandbox.Create(ctx, d, spec)
	if sandbox.CodeOf(err) == sandbox.Unavailable {
		return host.ExplainUnavailable(ctx, a, d, err)
	}
	if err != nil {
		return err
	}
	if err := inventory.Remember(ctx, a, h, d, name); err != nil {
		return errors.Join(err, box.Close(context.WithoutCancel(ctx)))
	}
	if _, err := fmt.Fprintln(a.Out, name); err != nil { // without its name it would be of no use
		return errors.Join(err, destroyUnnamed(context.WithoutCancel(ctx), a, h, d, box, name))
	}
	return box.Detach()
}

// destroyUnnamed destroys a sandbox whose name could not be printed, and forgets where it was.
func destroyUnnamed(ctx context.Context, a *console.App, h host.Host, d persist.Lifecycle, box *sandbox.Sandbox, name string) error {
	record, err := d.Load(ctx, name)
	if err == nil {
		err = box.Close(ctx)
	}
	if err == nil {
		err = inventory.Forget(ctx, a, h, record)
	}
	return err
}
