package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func newCreate(a *app) *cobra.Command {
	var f options
	var k life
	cmd := &cobra.Command{
		Use:   "create [flags] [NAME]",
		Short: "make a sandbox that lives on",
		Long: `The sandbox has this policy until it is destroyed, and its commands share what
is in its /tmp and what runs in the background. Without a NAME it gets one, which
is printed. One in a cluster (--backend kube) is everybody's who may use its
namespace, and works on a volume with a copy of the project; here is kept where it
is, so that the other commands find it by its name.`,
		Example: `agent-sandbox create work
agent-sandbox exec --in work -- npm install
agent-sandbox create --allow packages.example.com --idle 30m --ttl 8h
agent-sandbox create --backend kube --network --image node:22 --storage 20GiB web
agent-sandbox destroy work`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := nameOf(args)
			if err != nil {
				return err
			}
			if k.idle < 0 || k.ttl < 0 || k.warm < 0 {
				return usageError(cmd.CommandPath(), "--idle, --ttl and --warm are not negative")
			}
			f.cluster.storage, f.cluster.storageClass = k.storage, k.storageClass
			return a.create(cmd.Context(), &f, k, name)
		},
	}
	f.register(cmd.Flags())
	k.register(cmd.Flags())
	return describe(cmd, exitSimple)
}

func nameOf(args []string) (string, error) {
	if len(args) == 1 {
		return args[0], persist.CheckName(args[0])
	}
	return persist.NewID()
}

func (a *app) create(ctx context.Context, f *options, k life, name string) error {
	relay, ctx := startRelay(ctx, false, a.err.say)
	defer relay.stop()
	h, err := locate(a.env, f.cwd)
	if err != nil {
		return err
	}
	spec, err := a.spec(h, f)
	if err != nil {
		return err
	}
	spec.Stage, spec.Name = k.stage, name
	backend := f.backend
	if backend == "" {
		backend = backendOf(spec.Layers)
	}
	if err := k.check(backend); err != nil {
		return err
	}
	use := hooks{cluster: f.cluster}
	if f.debug {
		use.trace = a.err.debug
	}
	d, err := newLifecycle(backend, h, use, k)
	if err == nil {
		err = a.vacant(ctx, h, name)
	}
	if err != nil {
		return err
	}
	box, err := sandbox.Create(ctx, d, spec)
	if sandbox.CodeOf(err) == sandbox.Unavailable {
		return a.unavailable(ctx, d, err)
	}
	if err != nil {
		return err
	}
	if err := a.remember(ctx, h, d, name); err != nil {
		return errors.Join(err, box.Close(context.WithoutCancel(ctx)))
	}
	fmt.Fprintln(a.out, name)
	return box.Detach()
}
