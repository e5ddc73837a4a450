package persistent

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/cli/repository"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// document is a persistent sandbox as JSON.
type document struct {
	sandbox.Info
	State   string           `json:"state"`             // "running", "frozen", "stopped", "gone" from its cluster, or "unknown"
	Running int              `json:"running"`           // commands that run now, or are frozen
	Idle    sandbox.Duration `json:"idle,omitempty"`    // as set at creation
	TTL     sandbox.Duration `json:"ttl,omitempty"`     // as set at creation
	Stage   string           `json:"stage,omitempty"`   // on which commands run
	Problem string           `json:"problem,omitempty"` // why some state is unknown

	Cluster *persist.Cluster `json:"cluster,omitempty"` // the place of a pod
	Pod     *inventory.Pod   `json:"pod,omitempty"`     // of status: what the cluster reports about the pod

	// Of the sandboxes of repositories.
	Repo    string           `json:"repo,omitempty"`    // its directory
	Mode    string           `json:"mode,omitempty"`    // "bind", or "branch" for a worktree
	Workdir string           `json:"workdir,omitempty"` // where commands start
	Volumes []sandbox.Volume `json:"volumes,omitempty"` //
}

// How many sandboxes are queried at once, and the time limit for all of them together.
const (
	maxAsked = 16
	askTime  = 15 * time.Second
)

// queryDocuments queries the state of all sandboxes; fresh reports that the records come from the sandboxes' own places. Its
// error asks for another program.
func queryDocuments(ctx context.Context, h host.Host, records []persist.Record, fresh bool) ([]document, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	docs := make([]document, len(records))
	who := inventory.Lifecycles{Host: h}
	if err := who.Require(records); err != nil {
		return nil, err
	}
	asked := make(chan struct{}, maxAsked)
	var all sync.WaitGroup
	for i, r := range records {
		d, err := who.Of(r)
		if err != nil {
			docs[i] = unknownState(r, err)
			continue
		}
		all.Go(func() {
			asked <- struct{}{}
			docs[i] = listDocument(ctx, inventory.Sandbox{Lifecycle: d, ID: r.ID, Known: r}, fresh)
			<-asked
		})
	}
	all.Wait()
	return docs, nil
}

// listDocument returns the document of a sandbox for list.
func listDocument(ctx context.Context, k inventory.Sandbox, fresh bool) document {
	if fresh {
		return queryDocument(ctx, k, k.Known)
	}
	r, err := k.Record(ctx)
	switch {
	case errors.Is(err, inventory.ErrGone):
		doc := newDocument(k.Known)
		doc.State = "gone"
		return doc
	case err != nil:
		return unknownState(k.Known, err)
	}
	return queryDocument(ctx, k, r)
}

// queryDocument asks a sandbox's keeper or cluster for its state.
func queryDocument(ctx context.Context, k inventory.Sandbox, r persist.Record) document {
	doc := newDocument(r)
	st, err := k.State(ctx, k.ID)
	if st.Running {
		doc.State, doc.Running = "running", st.Commands
	}
	if st.Frozen {
		doc.State = "frozen"
	}
	if err != nil {
		doc.Problem = err.Error()
	}
	return doc
}

func newDocument(r persist.Record) document {
	doc := document{Info: r.Info(), State: "stopped", Idle: r.Idle, TTL: r.TTL, Stage: r.Spec.Stage, Cluster: r.Cluster}
	doc.describeRepo(r)
	return doc
}

func unknownState(r persist.Record, err error) document {
	doc := newDocument(r)
	doc.State, doc.Problem = "unknown", err.Error()
	return doc
}

// describeRepo adds the fields of a repository's sandbox.
func (d *document) describeRepo(r persist.Record) {
	d.Volumes = r.Spec.Volumes
	if !repository.IsSandboxOf(r, repo.Repo{Path: r.Spec.Workspace}) {
		return
	}
	d.Repo, d.Mode, d.Workdir = r.Spec.Workspace, repo.Mode(r.Spec.Dir), cmp.Or(r.Spec.Dir, r.Spec.Target)
}
