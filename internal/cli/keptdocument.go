package cli

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
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

// describeRepo adds what is known of a repository's sandbox.
func (d *keptDocument) describeRepo(r persist.Record) {
	d.Volumes = r.Spec.Volumes
	if !belongsTo(r, repo.Repo{Path: r.Spec.Workspace}) {
		return
	}
	d.Repo, d.Mode, d.Workdir = r.Spec.Workspace, repo.Mode(r.Spec.Dir), cmp.Or(r.Spec.Dir, r.Spec.Target)
}
