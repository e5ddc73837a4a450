package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/keep"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// kept is where sandboxes live on.
func (h host) kept() keep.Store { return keep.Store{Dir: filepath.Join(h.data, "sandboxes")} }

// keptDriver makes a backend's sandboxes live on, with this program as their keeper.
func keptDriver(backend string, h host) (*keep.Driver, error) {
	inner, err := newDriver(backend, h, hooks{})
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &keep.Driver{Inner: inner, Store: h.kept(), Keeper: []string{self, keeperCommand}}, nil
}

// keptHere finds our directories, of which a kept sandbox needs no working directory.
func (a *app) keptHere() (host, error) {
	home, err := homeDir(a.env)
	return host{home: home, data: dataDir(a.env, home)}, err
}

// openKept opens a sandbox by its name. The caller detaches.
func (a *app) openKept(ctx context.Context, name string) (*sandbox.Sandbox, error) {
	h, err := a.keptHere()
	if err != nil {
		return nil, err
	}
	record, err := h.kept().Load(name)
	if err != nil {
		return nil, err
	}
	d, err := keptDriver(record.Backend, h)
	if err != nil {
		return nil, err
	}
	return sandbox.Open(ctx, d, name)
}

func newCreate(a *app) *cobra.Command {
	var f options
	var stage string
	var idle, ttl time.Duration
	cmd := &cobra.Command{
		Use:   "create [flags] [NAME]",
		Short: "make a sandbox that lives on",
		Long: `The sandbox has this policy until it is destroyed, and its commands share what
is in its /tmp and what runs in the background. Without a NAME it gets one, which
is printed.`,
		Example: `agent-sandbox create work
agent-sandbox exec --in work -- npm install
agent-sandbox create --allow packages.example.com --idle 30m --ttl 8h
agent-sandbox destroy work`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := nameOf(args)
			if err != nil {
				return err
			}
			if idle < 0 || ttl < 0 {
				return usageError(cmd.CommandPath(), "--idle and --ttl are not negative")
			}
			return a.create(cmd.Context(), &f, stage, name, idle, ttl)
		},
	}
	f.register(cmd.Flags())
	addStage(cmd.Flags(), &stage)
	cmd.Flags().DurationVar(&idle, "idle", 0, "stop it when no command has run for `TIME`, such as 30m; 0: never")
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "destroy it when `TIME` has passed, but not while a command runs; 0: never")
	return describe(cmd, exitSimple)
}

func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usageError(cmd.CommandPath(), "%s takes one name, got %q", cmd.Name(), args[1])
	}
	return nil
}

func nameOf(args []string) (string, error) {
	if len(args) == 1 {
		return args[0], keep.CheckName(args[0])
	}
	return keep.NewID()
}

func (a *app) create(ctx context.Context, f *options, stage, name string, idle, ttl time.Duration) error {
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
	spec.Stage, spec.Name = stage, name
	backend := f.backend
	if backend == "" {
		backend = backendOf(spec.Layers)
	}
	d, err := keptDriver(backend, h)
	if err != nil {
		return err
	}
	d.Idle, d.TTL = idle, ttl
	box, err := sandbox.Create(ctx, d, spec)
	if sandbox.CodeOf(err) == sandbox.Unavailable {
		return a.unavailable(ctx, d, err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, name)
	return box.Detach()
}

// newNamed makes a command that does one thing to each of the sandboxes that are named.
func newNamed(a *app, name, short, long string, do func(ctx context.Context, h host, name string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:               name + " NAME...",
		Short:             short,
		Long:              long,
		Example:           "agent-sandbox " + name + " work",
		ValidArgsFunction: a.completeKept,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError(cmd.CommandPath(), "no sandbox was named")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			relay, ctx := startRelay(cmd.Context(), false, a.err.say)
			defer relay.stop()
			h, err := a.keptHere()
			for _, arg := range args {
				if err != nil && len(args) == 1 {
					break
				}
				err = errors.Join(err, do(ctx, h, arg))
			}
			return err
		},
	}
	return describe(cmd, exitSimple)
}

func (a *app) completeKept(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	h, err := a.keptHere()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	records, _ := h.kept().List() // those that can be read
	var names []string
	for _, r := range records {
		names = append(names, r.ID)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func newStart(a *app) *cobra.Command {
	return newNamed(a, "start", "start sandboxes that are stopped",
		"With the policy that they were made with, and the environment of this command.",
		func(ctx context.Context, h host, name string) error {
			record, err := h.kept().Load(name)
			if err != nil {
				return err
			}
			d, err := keptDriver(record.Backend, h)
			if err != nil {
				return err
			}
			return d.Start(ctx, name, a.env)
		})
}

func newStop(a *app) *cobra.Command {
	return newNamed(a, "stop", "end what runs in sandboxes, and keep them",
		"Their workspaces and stages stay; what was in their private /tmp is gone.",
		func(ctx context.Context, h host, name string) error { return h.kept().Stop(ctx, name) })
}

func newDestroy(a *app) *cobra.Command {
	return newNamed(a, "destroy", "end sandboxes for good",
		"Their workspaces and stages stay as they are.",
		func(ctx context.Context, h host, name string) error { return h.kept().Destroy(ctx, name) })
}

func newPrune(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "prune",
		Short:   "destroy the sandboxes that are stopped",
		Example: "agent-sandbox prune",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.prune(cmd.Context()) },
	}
	return describe(cmd, exitSimple)
}

func (a *app) prune(ctx context.Context) error {
	h, err := a.keptHere()
	if err != nil {
		return err
	}
	records, err := h.kept().List()
	for _, r := range records {
		runs, rerr := h.kept().Runs(r.ID)
		if rerr == nil && !runs {
			if rerr = h.kept().Destroy(ctx, r.ID); rerr == nil {
				fmt.Fprintln(a.out, r.ID)
			}
		}
		err = errors.Join(err, rerr)
	}
	return err
}
