package run

import (
	"fmt"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// stageReport is the part of exec --json about the stage on which a command ran.
type stageReport struct {
	Name      string          `json:"name"`
	Workspace string          `json:"workspace"`
	Kind      stage.Mechanism `json:"kind"`
	Reason    string          `json:"reason,omitempty"` // why it is not an overlay
	Changes   int             `json:"changes"`
	Conflicts int             `json:"conflicts"` // changes that conflict with later changes in the workspace

	host.HiddenFiles
}

// reportStage describes the stage after a run; nil without a stage.
func reportStage(a *console.App, cwd, name string) (*stageReport, error) {
	if name == "" {
		return nil, nil
	}
	h, err := host.Locate(a.Env, cwd)
	if err != nil {
		return nil, err
	}
	s, err := (&stage.Store{Dir: stage.In(h.Data)}).Open(h.Workspace, name)
	if err != nil {
		return nil, err
	}
	changes, err := s.Diff()
	if err != nil {
		return nil, err
	}
	r := &stageReport{Name: s.Name, Workspace: s.Workspace, Kind: s.Kind, Reason: s.Reason, Changes: len(changes)}
	for _, c := range changes {
		if c.Conflict != "" {
			r.Conflicts++
		}
	}
	hidden, err := s.Hidden(changes)
	r.HiddenFiles = host.NewHiddenFiles(hidden)
	return r, err
}

// printStageRemark reports on one line what a run has left in its stage. The run is over, so
// an error here does not change its exit status.
func printStageRemark(a *console.App, cwd, name string) error {
	r, err := reportStage(a, cwd, name)
	switch {
	case err != nil && sandbox.CodeOf(err) == sandbox.NotFound:
		a.Err.Say("stage " + name + ": " + err.Error()) // discarded by now, or its workspace is gone
	case err != nil:
		return err
	case r != nil:
		a.Err.Say(r.line(cwd))
		r.Print(a.Err)
	}
	return nil
}

func (r *stageReport) line(cwd string) string {
	if r.Changes == 0 {
		return "no changes in stage " + r.Name
	}
	where := ""
	if cwd != "" {
		where = " -C " + shellWord(cwd)
	}
	if r.Name != stage.DefaultName {
		where += " " + r.Name
	}
	conflicts := ""
	if r.Conflicts > 0 {
		conflicts = fmt.Sprintf(" (%d in conflict)", r.Conflicts)
	}
	return fmt.Sprintf("%s in stage %s%s: 'agent-sandbox stage diff%s' shows, 'stage apply%s' makes, 'stage discard%s' drops them",
		console.Count(r.Changes, "change"), r.Name, conflicts, where, where, where)
}
