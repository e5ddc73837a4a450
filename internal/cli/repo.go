package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// repoAt finds the repository in a directory; "" is the working directory.
func (a *app) repoAt(dir string) (repo.Repo, error) {
	path, err := workDir(dir)
	if err != nil {
		return repo.Repo{}, err
	}
	return repo.Open(path)
}

// initialisedHere tells whether the working directory is a repository that init has been to.
func initialisedHere() bool {
	path, err := workDir("")
	return err == nil && repo.Repo{Path: path}.Initialised()
}

// sortArgument tells whether an argument means a repository or a sandbox that lives on. A path has a slash or is a dot;
// another word is a sandbox's name, unless only a directory that was initialised is called so.
func (a *app) sortArgument(arg string) (isRepo bool, err error) {
	if strings.Contains(arg, "/") || arg == "." || arg == ".." {
		return true, nil
	}
	directory := false
	if path, err := workDir(arg); err == nil {
		directory = repo.Repo{Path: path}.Initialised()
	}
	h, err := a.keptHere()
	if err != nil {
		return false, err
	}
	kept := false
	if persist.CheckName(arg) == nil {
		_, err := h.kept().Load(arg)
		kept = sandbox.CodeOf(err) != sandbox.NotFound
	}
	if directory && kept {
		return false, sandbox.Errorf(sandbox.Invalid, "%q is a sandbox and a directory", arg).
			WithHint("write ./%s for the directory, or the name of its own sandbox: agent-sandbox list", arg)
	}
	return directory, nil
}

// openEngine connects to the container engine. The caller closes it.
func (a *app) openEngine(ctx context.Context) (*engine.Client, error) { return engine.Open(ctx, a.env) }

// atMostOnePath is for commands that take a repository's directory.
func atMostOnePath(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usageError(cmd.CommandPath(), "%s takes one directory, got %q", cmd.Name(), args[1])
	}
	return nil
}

// completeDirectory completes the names of directories.
func completeDirectory(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// belongsTo tells whether a sandbox is one that start made for a repository.
func belongsTo(record persist.Record, r repo.Repo) bool {
	return record.Backend == dockerBackend && record.Spec.Workspace == r.Path && record.Spec.Target == r.Target() &&
		strings.HasPrefix(record.ID, "agent-sandbox-") && strings.HasSuffix(record.ID, "-"+r.Hash())
}
