package repository

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// NewVolume returns the command volume, with its subcommand.
func NewVolume(a *console.App) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "volume [flags] [PATH]",
		Short: "print the name of the volume with Claude Code's configuration, or remove volumes",
		Long: `All sandboxes of repositories share it. With --all also the others that the
sandbox of a repository has, each with its path inside. 'volume prune' removes the
volumes of repositories that have no sandbox; a directory of that name is ./prune.`,
		Example:           "docker volume inspect $(agent-sandbox volume)\nagent-sandbox volume --all .\nagent-sandbox volume prune --dry-run",
		ValidArgsFunction: CompleteDirectory,
		Args:              AtMostOnePath,
		RunE: func(_ *cobra.Command, args []string) error {
			volumes := []sandbox.Volume{{Name: repo.ClaudeVolume, Target: repo.ClaudeHome}}
			if all {
				r, err := At(a, console.First(args))
				if err != nil {
					return err
				}
				volumes = r.Volumes()
			}
			return printVolumes(a, volumes, all, asJSON)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "print all volumes")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	cmd.AddCommand(newVolumePrune(a))
	return console.Describe(cmd, console.ExitSimple)
}

func printVolumes(a *console.App, volumes []sandbox.Volume, places, asJSON bool) error {
	if asJSON {
		return a.PrintJSON(volumes)
	}
	for _, v := range volumes {
		if !places {
			fmt.Fprintln(a.Out, v.Name)
			continue
		}
		fmt.Fprintf(a.Out, "%s\t%s\n", v.Name, v.Target)
	}
	return nil
}
