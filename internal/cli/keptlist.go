package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

func newList(a *app) *cobra.Command {
	var at keptAt
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "list the sandboxes that live on",
		Long: `Those of this machine, and of pods those that it knows: one that somebody else has
destroyed is gone. With --backend kube all of the namespace, whoever made them.`,
		Example: `agent-sandbox list
agent-sandbox list --backend kube --namespace agents
agent-sandbox list --json | jq -r '.[].name'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listKept(cmd.Context(), at, asJSON) },
	}
	at.register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return describe(cmd, exitSimple)
}

func (a *app) listKept(ctx context.Context, at keptAt, asJSON bool) error {
	h, err := a.keptHere()
	if err != nil {
		return err
	}
	records, err := a.keptRecords(ctx, at)
	docs := documents(ctx, h, records, at.inCluster())
	if asJSON {
		return errors.Join(err, a.printJSON(docs))
	}
	a.printKept(docs)
	return err
}

func (a *app) printKept(docs []keptDocument) {
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
	a.printColumns(rows)
	a.printRepos(docs)
	a.printClusters(docs)
}

// printClusters prints a table about where pods are, when there are any.
func (a *app) printClusters(docs []keptDocument) {
	rows := [][]string{{"NAME", "NAMESPACE", "CONTEXT"}}
	for _, d := range docs {
		if d.Cluster != nil {
			rows = append(rows, []string{d.ID, d.Cluster.Namespace, d.Cluster.Context})
		}
	}
	if len(rows) > 1 {
		fmt.Fprintln(a.out)
		a.printColumns(rows)
	}
}
