package main

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/keep"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// keptDocument is a sandbox that lives on as JSON.
type keptDocument struct {
	sandbox.Info
	State   string           `json:"state"`             // "running" or "stopped"
	Running int              `json:"running"`           // commands that run now
	Idle    sandbox.Duration `json:"idle,omitempty"`    // as it was created
	TTL     sandbox.Duration `json:"ttl,omitempty"`     // as it was created
	Stage   string           `json:"stage,omitempty"`   // that commands run on
	Problem string           `json:"problem,omitempty"` // why more cannot be told
}

func newList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list [flags]",
		Short:   "list the sandboxes that live on",
		Example: "agent-sandbox list\nagent-sandbox list --json | jq -r '.[].name'",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.listKept(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return describe(cmd, exitSimple)
}

func newStatus(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "status [flags] NAME",
		Short:             "tell how a sandbox is",
		Example:           "agent-sandbox status work\nagent-sandbox status --json work | jq .running",
		ValidArgsFunction: a.completeKept,
		Args:              oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.statusOf(cmd.Context(), args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return describe(cmd, exitSimple)
}

func oneName(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError(cmd.CommandPath(), "%s takes the name of a sandbox", cmd.Name())
	}
	return nil
}

func (a *app) listKept(ctx context.Context, asJSON bool) error {
	h, err := a.keptHere()
	if err != nil {
		return err
	}
	records, err := h.kept().List()
	docs := []keptDocument{}
	for _, r := range records {
		docs = append(docs, a.document(ctx, h, r))
	}
	if asJSON {
		return errors.Join(err, a.printJSON(docs))
	}
	a.printKept(docs)
	return err
}

func (a *app) statusOf(ctx context.Context, name string, asJSON bool) error {
	h, err := a.keptHere()
	if err != nil {
		return err
	}
	record, err := h.kept().Load(name)
	if err != nil {
		return err
	}
	doc := a.document(ctx, h, record)
	if asJSON {
		return a.printJSON(doc)
	}
	a.printKept([]keptDocument{doc})
	return nil
}

// document asks a sandbox's keeper, when there is one.
func (a *app) document(ctx context.Context, h host, r keep.Record) keptDocument {
	doc := keptDocument{Info: r.Info(), State: "stopped", Idle: r.Idle, TTL: r.TTL, Stage: r.Spec.Stage}
	runs, err := h.kept().Runs(r.ID)
	if err == nil && runs {
		doc.State = "running"
		doc.Running, err = a.running(ctx, r.ID)
	}
	if err != nil && sandbox.CodeOf(err) != sandbox.Closed {
		doc.Problem = err.Error()
	}
	return doc
}

func (a *app) running(ctx context.Context, name string) (int, error) {
	box, err := a.openKept(ctx, name)
	if err != nil {
		return 0, err
	}
	st, err := box.Status(ctx)
	return st.Running, errors.Join(err, box.Detach())
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
}

func newLogs(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "logs NAME",
		Short:             "print what happened in a sandbox",
		Long:              "Its starts and ends, its commands and what was refused, a line each.",
		Example:           "agent-sandbox logs work",
		ValidArgsFunction: a.completeKept,
		Args:              oneName,
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := a.keptHere()
			if err != nil {
				return err
			}
			log, err := h.kept().Log(args[0])
			if err != nil {
				return err
			}
			defer log.Close()
			_, err = io.Copy(a.out, log)
			return err
		},
	}
	return describe(cmd, exitSimple)
}
