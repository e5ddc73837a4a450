//go:build agent

package assistants

import (
	"maps"
	"slices"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// assistantDocument is an assistant as JSON.
type assistantDocument struct {
	Name        string              `json:"name"`
	Label       string              `json:"label"`
	Description string              `json:"description,omitempty"`
	File        string              `json:"file,omitempty"`
	Connector   string              `json:"connector,omitempty"`
	Model       string              `json:"model,omitempty"`
	Runs        string              `json:"runs"`              // "direct", "claude", ...
	Backend     string              `json:"backend,omitempty"` // where a coding agent runs; "": the caller's choice
	Prompts     int                 `json:"prompts"`
	Presets     []string            `json:"presets"` // of prompts, by name
	Skills      []string            `json:"skills"`
	Servers     []string            `json:"servers"`
	Hooks       string              `json:"hooks,omitempty"`
	Valid       bool                `json:"valid"`
	Trusted     bool                `json:"trusted"`
	Digest      string              `json:"digest,omitempty"` // of the trusted content; "": it cannot be computed
	Problems    []assistant.Problem `json:"problems"`
}

func newAssistantDocument(e assistant.Entry) assistantDocument {
	a := e.Assistant
	d := assistantDocument{
		Name: a.Name, Label: a.Label, Description: a.Description, File: a.File, Runs: "direct", Prompts: len(a.Prompts),
		Presets: append([]string{}, slices.Sorted(maps.Keys(a.Presets))...), Skills: []string{}, Servers: []string{}, Hooks: a.Hooks, Valid: assistant.IsValid(e.Problems), Trusted: a.IsTrusted(),
		Problems: append([]assistant.Problem{}, e.Problems...),
	}
	if a.Connector != nil {
		d.Connector, d.Model = a.Connector.ID, a.Connector.Model
	}
	if d.Valid {
		d.Digest, _ = a.Digest() // an unreadable assistant has no digest
	}
	if a.Sandbox != nil {
		d.Runs, d.Backend = string(a.Sandbox.Command), a.Sandbox.Backend
	}
	for _, s := range a.Skills.Skills {
		d.Skills = append(d.Skills, s.Name)
	}
	for _, s := range a.Servers {
		d.Servers = append(d.Servers, s.ID)
	}
	return d
}

func listAssistants(a *console.App, dir string, asJSON bool) error {
	root, err := openRoot(a, dir)
	if err != nil {
		return err
	}
	entries, problems, err := root.List()
	if err != nil {
		return err
	}
	if asJSON {
		docs := []assistantDocument{}
		for _, e := range entries {
			docs = append(docs, newAssistantDocument(e))
		}
		return a.PrintJSON(map[string]any{
			"root": root.Dir(), "own": root.Own, "assistants": docs, "problems": append([]assistant.Problem{}, problems...),
		})
	}
	for _, p := range problems {
		a.Err.Say(p.String())
	}
	printAssistants(a, entries)
	return nil
}

// printAssistants prints a table. Descriptions come last, since they may be long.
func printAssistants(a *console.App, entries []assistant.Entry) {
	if len(entries) == 0 {
		return
	}
	rows := [][]string{{"NAME", "CONNECTOR", "RUNS", "SKILLS", "SERVERS", "TRUSTED", "PROBLEMS", "LABEL"}}
	for _, e := range entries {
		d := newAssistantDocument(e)
		trusted := "no"
		if d.Trusted {
			trusted = "yes"
		}
		runs := d.Runs
		if d.Backend != "" {
			runs += " on " + d.Backend
		}
		if e.Assistant.File == "" || e.Assistant.Connector == nil && !d.Valid {
			d.Connector = "-"
		}
		rows = append(rows, []string{
			d.Name, d.Connector, runs, strconv.Itoa(len(d.Skills)), strconv.Itoa(len(d.Servers)), trusted,
			strconv.Itoa(len(d.Problems)), console.Shorten(d.Label),
		})
	}
	a.PrintColumns(rows)
}
