package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/assistants"
	"github.com/seed434b0696/agent-sandbox/internal/cli/changes"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/diagnosis"
	"github.com/seed434b0696/agent-sandbox/internal/cli/files"
	"github.com/seed434b0696/agent-sandbox/internal/cli/persistent"
	"github.com/seed434b0696/agent-sandbox/internal/cli/policies"
	"github.com/seed434b0696/agent-sandbox/internal/cli/repository"
	"github.com/seed434b0696/agent-sandbox/internal/cli/run"
	"github.com/seed434b0696/agent-sandbox/internal/cli/snapshots"
)

// family is a group of commands under one heading of the help.
type family struct {
	id, title string
	rows      []row
}

// row is a line of the root's help: related commands and their purpose.
type row struct {
	text     string
	commands []*cobra.Command
}

// families returns the commands in the order in which the help lists them.
func families(a *console.App) []family {
	type list = []*cobra.Command
	return []family{
		{"run", "RUN COMMANDS", []row{
			{"run a command in a sandbox", list{run.NewExec(a)}},
			{"open a shell in a sandbox", list{run.NewShell(a)}},
			{"run Claude Code, Codex or Cursor in a sandbox", run.NewAgents(a)},
		}},
		{"changes", "REVIEW CHANGES", []row{
			{"show, make or drop the changes of a sandbox or a stage", list{changes.NewDiff(a), changes.NewApply(a), changes.NewDiscard(a)}},
			{"list stages, and the same for stages only", list{changes.NewStage(a)}},
		}},
		{"persistent", "PERSISTENT SANDBOXES", []row{
			{"create a sandbox that stays; destroy it, or all that are stopped", list{persistent.NewCreate(a), persistent.NewDestroy(a), persistent.NewPrune(a)}},
			{"start or stop sandboxes", list{persistent.NewStart(a), persistent.NewStop(a)}},
			{"stop the processes of a sandbox where they are; continue them", list{persistent.NewFreeze(a), persistent.NewThaw(a)}},
			{"show sandboxes, and what happened in them", list{persistent.NewList(a), persistent.NewStatus(a), persistent.NewLogs(a)}},
			{"copy files into or out of a sandbox", list{files.NewPut(a), files.NewGet(a)}},
			{"forward ports of 127.0.0.1 into a sandbox", list{persistent.NewForward(a)}},
			{"save the files of a sandbox, and list what is saved", list{snapshots.NewSnapshot(a), snapshots.NewSnapshots(a)}},
			{"go back to a snapshot, or create a sandbox from one", list{snapshots.NewRestore(a), snapshots.NewFork(a)}},
		}},
		{"policy", "POLICY", []row{
			{"show what the policy allows, and which rule decides", list{policies.NewExplain(a)}},
			{"trust a project's configuration, a Dockerfile or an assistant", list{policies.NewTrust(a)}},
			{"convert settings of Claude Code, srt or fence; print JSON schemas", list{policies.NewImport(a), policies.NewSchema(a)}},
		}},
		{"repository", "REPOSITORIES OVER DOCKER", []row{
			{"prepare a repository; build its image, or the base image", list{repository.NewInit(a), repository.NewBuild(a), repository.NewBuildBase(a)}},
			{"worktrees, the docker command and volumes", list{repository.NewCheckout(a), repository.NewShowRun(a), repository.NewVolume(a)}},
			{"set up Codex, or delete its credentials", list{repository.NewCodexInit(a), repository.NewCodexLogout(a)}},
		}},
		{"agent", "ASSISTANTS", []row{
			{"run, list and check assistants; list and check skills", list{assistants.NewAgent(a), assistants.NewSkill(a)}},
			{"serve a sandbox over the Model Context Protocol", list{assistants.NewMCP(a)}},
		}},
		{"diagnosis", "THIS HOST", []row{
			{"show and test what this host can enforce", list{diagnosis.NewDoctor(a), diagnosis.NewSelftest(a)}},
			{"detect a sandbox; print the version or a completion script", list{diagnosis.NewCheck(a), newVersion(a), newCompletion(a)}},
		}},
	}
}

// printRootHelp prints the help of the root on one screen: a line per row.
func printRootHelp(out *console.Output, root *cobra.Command, all []family) {
	fmt.Fprintf(out, "%s - %s\n\nUSAGE\n  %s\n  agent-sandbox COMMAND ...\n\n%s\n", root.CommandPath(), root.Short, root.Use, root.Long)
	for _, f := range all {
		fmt.Fprintf(out, "\n%s\n", f.title)
		for _, r := range f.rows {
			var names []string
			for _, cmd := range r.commands {
				names = append(names, cmd.Name())
			}
			fmt.Fprintf(out, "  %-31s   %s\n", strings.Join(names, ", "), r.text)
		}
	}
	fmt.Fprintf(out, "\nEXAMPLES\n  %s\n", strings.ReplaceAll(root.Example, "\n", "\n  "))
	fmt.Fprintf(out, "\nFLAGS and EXIT STATUS are those of exec: see 'agent-sandbox exec --help', or 'agent-sandbox help COMMAND'.\n")
}
