// Package repository has the commands for sandboxes of repositories over Docker.
package repository

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// At finds the repository in a directory; "" is the working directory.
func At(a *console.App, dir string) (repo.Repo, error) {
	path, err := host.WorkDir(dir)
	if err != nil {
		return repo.Repo{}, err
	}
	return repo.Open(path)
}

// IsInitialisedHere reports whether the working directory is a repository that init has initialised.
func IsInitialisedHere() bool {
	path, err := host.WorkDir("")
	return err == nil && repo.Repo{Path: path}.IsInitialised()
}

// IsRepository reports whether an argument is a repository rather than a persistent sandbox. A path has a slash or is a dot;
// any other word is a sandbox's name, unless only an initialised directory has that name.
func IsRepository(a *console.App, arg string) (isRepo bool, err error) {
	if strings.Contains(arg, "/") || arg == "." || arg == ".." {
		return true, nil
	}
	directory := false
	if path, err := host.WorkDir(arg); err == nil {
		directory = repo.Repo{Path: path}.IsInitialised()
	}
	h, err := host.LocateHome(a)
	if err != nil {
		return false, err
	}
	persistent := false
	if persist.CheckName(arg) == nil {
		_, err := h.Sandboxes().Load(arg)
		persistent = sandbox.CodeOf(err) != sandbox.NotFound
	}
	if directory && persistent {
		return false, sandbox.Errorf(sandbox.Invalid, "%q names both a sandbox and a directory", arg).
			WithHint("write ./%s for the directory, or the name of its own sandbox: agent-sandbox list", arg)
	}
	return directory, nil
}

// needsEngine makes a command ask for the program with a container engine before it does anything.
func needsEngine(cmd *cobra.Command) *cobra.Command {
	cmd.PreRunE = func(*cobra.Command, []string) error { return host.RequireEngines() }
	return cmd
}

// AtMostOnePath accepts no argument or a repository's directory.
func AtMostOnePath(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return console.UsageError(cmd.CommandPath(), "%s takes one directory, got %q", cmd.Name(), args[1])
	}
	return nil
}

// CompleteDirectory completes the names of directories.
func CompleteDirectory(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// IsSandboxOf reports whether start created a sandbox for a repository.
func IsSandboxOf(record persist.Record, r repo.Repo) bool {
	return record.Backend == host.Docker && record.Spec.Workspace == r.Path && record.Spec.Target == r.Target() &&
		strings.HasPrefix(record.ID, "agent-sandbox-") && strings.HasSuffix(record.ID, "-"+r.Hash())
}
