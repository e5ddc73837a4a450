package persistent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
)

// NewList returns the command list.
func NewList(a *console.App) *cobra.Command {
	var at inventory.Place
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "list persistent sandboxes",
		Long: `Lists the sandboxes of this machine, and the pods that it has records of: a pod that was
destroyed elsewhere is gone. With --backend kube the pods of all users of the namespace.`,
		Example: `agent-sandbox list
agent-sandbox list --backend kube --namespace agents
agent-sandbox list --json | jq -r '.[].name'`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listSandboxes(cmd.Context(), a, at, asJSON) },
	}
	at.Register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, console.ExitSimple)
}

func listSandboxes(ctx context.Context, a *console.App, at inventory.Place, asJSON bool) error {
	h, err := host.LocateHome(a)
	if err != nil {
		return err
	}
	records, err := inventory.Records(ctx, a, at)
	docs, qerr := queryDocuments(ctx, h, records, at.IsInCluster())
	if qerr != nil {
		return qerr
	}
	if asJSON {
		return errors.Join(err, a.PrintJSON(docs))
	}
	printSandboxes(a, docs)
	return err
}

func printSandboxes(a *console.App, docs []document) {
	if len(docs) == 0 {
		return
	}
	rows := [][]string{{"NAME", "BACKEND", "STATE", "COMMANDS", "CREATED", "WORKSPACE"}}
	for _, d := range docs {
		state := d.State
		if d.Problem != "" {
			state = d.Problem
		}
		rows = append(rows, []string{d.ID, d.Backend, state, strconv.Itoa(d.Running), d.Created.Local().Format(time.DateTime), d.Workspace})
	}
	a.PrintColumns(rows)
	printRepos(a, docs)
	printClusters(a, docs)
}

// printClusters prints a table about where pods are, when there are any.
func printClusters(a *console.App, docs []document) {
	rows := [][]string{{"NAME", "NAMESPACE", "CONTEXT"}}
	for _, d := range docs {
		if d.Cluster != nil {
			rows = append(rows, []string{d.ID, d.Cluster.Namespace, d.Cluster.Context})
		}
	}
	if len(rows) > 1 {
		fmt.Fprintln(a.Out)
		a.PrintColumns(rows)
	}
}
