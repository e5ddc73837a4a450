package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// keptDocument is a sandbox that lives on as JSON.
type keptDocument struct {
	sandbox.Info
	State   string           `json:"state"`             // "running", "stopped", "gone" from its cluster, or "unknown"
	Running int              `json:"running"`           // commands that run now
	Idle    sandbox.Duration `json:"idle,omitempty"`    // as it was created
	TTL     sandbox.Duration `json:"ttl,omitempty"`     // as it was created
	Stage   string           `json:"stage,omitempty"`   // that commands run on
	Problem string           `json:"problem,omitempty"` // why more cannot be told

	Cluster *persist.Cluster `json:"cluster,omitempty"` // where it is, of a pod

	// Of the sandboxes of repositories.
	Repo    string           `json:"repo,omitempty"`    // its directory
	Mode    string           `json:"mode,omitempty"`    // "bind", or "branch" for a worktree
	Workdir string           `json:"workdir,omitempty"` // where commands start
	Volumes []sandbox.Volume `json:"volumes,omitempty"` //
}

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

func newStatus(a *app) *cobra.Command {
	var at keptAt
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "status [flags] NAME",
		Short:             "tell how a sandbox is",
		Example:           "agent-sandbox status work\nagent-sandbox status --json work | jq .running",
		ValidArgsFunction: a.completeKept,
		Args:              oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.statusOf(cmd.Context(), args[0], at, asJSON)
		},
	}
	at.register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return describe(cmd, exitSimple)
}

func oneName(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError(cmd.CommandPath(), "%s takes the name of a sandbox", cmd.Name())
	}
	return nil
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

func (a *app) statusOf(ctx context.Context, name string, at keptAt, asJSON bool) error {
	k, err := a.findKept(name, at)
	if err != nil {
		return err
	}
	record, err := k.record(ctx)
	if err != nil {
		return err
	}
	doc := document(ctx, k, record)
	if asJSON {
		return a.printJSON(doc)
	}
	a.printKept([]keptDocument{doc})
	return nil
}

// How many sandboxes are asked at once how they are, and how long all of them may take together.
const (
	maxAsked = 16
	askTime  = 15 * time.Second
)

// documents asks all sandboxes how they are; fresh says that the records are from those who keep them.
func documents(ctx context.Context, h host, records []persist.Record, fresh bool) []keptDocument {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	docs := make([]keptDocument, len(records))
	who := keepers{host: h}
	asked := make(chan struct{}, maxAsked)
	var all sync.WaitGroup
	for i, r := range records {
		d, err := who.of(r)
		if err != nil {
			docs[i] = unknownState(r, err)
			continue
		}
		all.Go(func() {
			asked <- struct{}{}
			docs[i] = listed(ctx, kept{Lifecycle: d, name: r.ID, here: r}, fresh)
			<-asked
		})
	}
	all.Wait()
	return docs
}

// listed is what list tells of a sandbox.
func listed(ctx context.Context, k kept, fresh bool) keptDocument {
	if fresh {
		return document(ctx, k, k.here)
	}
	r, err := k.record(ctx)
	switch {
	case errors.Is(err, errGone):
		doc := newDocument(k.here)
		doc.State = "gone"
		return doc
	case err != nil:
		return unknownState(k.here, err)
	}
	return document(ctx, k, r)
}

// document asks whoever keeps a sandbox how it is.
func document(ctx context.Context, k kept, r persist.Record) keptDocument {
	doc := newDocument(r)
	st, err := k.State(ctx, k.name)
	if st.Running {
		doc.State, doc.Running = "running", st.Commands
	}
	if err != nil {
		doc.Problem = err.Error()
	}
	return doc
}

func newDocument(r persist.Record) keptDocument {
	doc := keptDocument{Info: r.Info(), State: "stopped", Idle: r.Idle, TTL: r.TTL, Stage: r.Spec.Stage, Cluster: r.Cluster}
	doc.describeRepo(r)
	return doc
}

func unknownState(r persist.Record, err error) keptDocument {
	doc := newDocument(r)
	doc.State, doc.Problem = "unknown", err.Error()
	return doc
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

func newLogs(a *app) *cobra.Command {
	var at keptAt
	cmd := &cobra.Command{
		Use:               "logs [flags] NAME",
		Short:             "print what happened in a sandbox",
		Long:              "Its starts and ends, its commands and what was refused, a line each.",
		Example:           "agent-sandbox logs work",
		ValidArgsFunction: a.completeKept,
		Args:              oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := a.findKept(args[0], at)
			if err == nil {
				_, err = k.record(cmd.Context())
			}
			if err != nil {
				return err
			}
			log, err := k.Log(cmd.Context(), k.name)
			if err != nil {
				return err
			}
			defer log.Close()
			_, err = io.Copy(a.out, log)
			return err
		},
	}
	at.register(cmd.Flags())
	return describe(cmd, exitSimple)
}
