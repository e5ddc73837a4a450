package changes

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
)

// stageDocument is a stage as JSON.
type stageDocument struct {
	Name      string          `json:"name"`
	Workspace string          `json:"workspace"`
	Kind      stage.Mechanism `json:"kind"`
	Reason    string          `json:"reason,omitempty"` // why it is not an overlay
	Created   time.Time       `json:"created"`
	Changes   *int            `json:"changes"`          // null: unknown, see problem
	Holder    *stage.Holder   `json:"in_use,omitempty"` // the process that uses it now
	Gone      bool            `json:"gone,omitempty"`   // its workspace no longer exists
	Problem   string          `json:"problem,omitempty"`
}

func newStageDocument(st *stage.Stage) stageDocument {
	d := stageDocument{
		Name: st.Name, Workspace: st.Workspace, Kind: st.Kind, Reason: st.Reason, Created: st.Created, Gone: isGone(st),
	}
	if h, ok := st.Holder(); ok {
		d.Holder = &h
	}
	if changes, err := st.Diff(); err != nil {
		d.Problem = err.Error()
	} else {
		n := len(changes)
		d.Changes = &n
	}
	return d
}

func newStageList(a *console.App) *cobra.Command {
	var cwd string
	var every, asJSON bool
	cmd := &cobra.Command{
		Use:     "list [flags]",
		Short:   "list the stages of this workspace, or of all",
		Example: "agent-sandbox stage list\nagent-sandbox stage list --all\nagent-sandbox stage list --json | jq '.[].changes'",
		Args:    console.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return listStages(a, cwd, every, asJSON) },
	}
	addStageCwd(cmd, &cwd)
	cmd.Flags().BoolVar(&every, "all", false, "those of all workspaces")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, console.ExitSimple)
}

func addStageCwd(cmd *cobra.Command, cwd *string) {
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(cwd, "cwd", "C", "", "work in `DIR` instead of the current directory; it may be gone")
}

func listStages(a *console.App, cwd string, every, asJSON bool) error {
	s, err := findStages(a, cwd)
	if err != nil {
		return err
	}
	chosen := s.here()
	if every {
		chosen = s.stages
	}
	docs := []stageDocument{}
	for _, st := range chosen {
		docs = append(docs, newStageDocument(st))
	}
	if asJSON {
		return errors.Join(s.failed, a.PrintJSON(docs))
	}
	printStages(a, docs, every)
	if others := len(s.stages) - len(chosen); len(chosen) == 0 && others > 0 {
		a.Err.Say(fmt.Sprintf("no stage of %s; other workspaces have %d, see --all", s.dir, others))
	}
	return s.failed
}

// printStages prints a table. The workspace is last, since it may be long.
func printStages(a *console.App, docs []stageDocument, every bool) {
	if len(docs) == 0 {
		return
	}
	rows := [][]string{{"NAME", "CHANGES", "KIND", "CREATED", "STATE"}}
	if every {
		rows[0] = append(rows[0], "WORKSPACE")
	}
	for _, d := range docs {
		changes := "?"
		if d.Changes != nil {
			changes = strconv.Itoa(*d.Changes)
		}
		row := []string{d.Name, changes, string(d.Kind), d.Created.Format(time.DateTime), d.state()}
		if every {
			row = append(row, d.Workspace)
		}
		rows = append(rows, row)
	}
	a.PrintColumns(rows)
}

func (d stageDocument) state() string {
	switch {
	case d.Holder != nil && d.Holder.PID == 0:
		return "in use"
	case d.Holder != nil:
		return fmt.Sprintf("in use by %d: %s", d.Holder.PID, d.Holder.Command)
	case d.Gone:
		return "the workspace is gone"
	case d.Problem != "":
		return d.Problem
	}
	return "-"
}
