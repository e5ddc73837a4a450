package repository

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// commandLiner is implemented by a backend whose sandbox can be shown as a command.
type commandLiner interface {
	CommandLine(ctx context.Context, spec sandbox.Spec) ([]string, error)
}

func printRun(ctx context.Context, a *console.App, dir string, f *Flags) error {
	relay, ctx := console.StartRelay(ctx, false, a.Err.Say)
	defer relay.Stop()
	s, err := openRepository(ctx, a, dir, f)
	if err != nil {
		return err
	}
	defer s.engine.Close()
	spec, err := repoSpec(ctx, a, s)
	if err != nil {
		return err
	}
	d, ok := s.driver.Inner.(commandLiner)
	if !ok {
		return sandbox.Errorf(sandbox.Unsupported, "backend %s has no command line to show", host.Docker)
	}
	spec.State = filepath.Join(s.host.Sandboxes().Dir, spec.Name, "state") // as its keeper has it; it need not exist
	line, err := d.CommandLine(ctx, spec)
	if err != nil {
		return err
	}
	for i, word := range line {
		if word == spec.Image {
			line[i] = s.Image() // the name is more informative than the ID
		}
	}
	fmt.Fprintln(a.Out, shellword.Join(line...))
	return nil
}

// NewShowRun returns the command show-run.
func NewShowRun(a *console.App) *cobra.Command {
	var f Flags
	cmd := &cobra.Command{
		Use:   "show-run [flags] [PATH]",
		Short: "print the docker command of a repository's sandbox",
		Long: `The container as 'agent-sandbox start' asks the engine for it, quoted for a shell,
under another name. It runs as printed (docker 25 or newer), with the same mounts,
limits, system calls and wrapped commands. Without a supervisor inside, names
that do not exist yet are not protected, and no host is reachable.`,
		Example:           "agent-sandbox show-run\nagent-sandbox show-run --branch feat/search ~/src/project",
		ValidArgsFunction: CompleteDirectory,
		Args:              AtMostOnePath,
		RunE: func(cmd *cobra.Command, args []string) error {
			return printRun(cmd.Context(), a, console.First(args), &f)
		},
	}
	f.Register(cmd, false)
	return needsEngine(console.Describe(cmd, console.ExitSimple))
}
