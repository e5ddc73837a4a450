package docker

import (
	"context"
	"errors"
	"slices"
	"sort"
	"strings"
	"time"

	images "github.com/moby/moby/api/types/image"
	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/backend/docker/owner"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Snapshots are images of the container's files, with the labels of their owner.
const (
	snapshotImages = "agent-sandbox-snapshot" // :ID-NAME
	nextImages     = "agent-sandbox-next"     // :ID; the image with which the sandbox's container begins, if it is not its Spec's
	labelSnapshot  = "agent-sandbox.snapshot" // its name
)

// Snapshot saves the container's root file system. The workspace, volumes and /tmp are not part of it. The engine pauses all
// processes meanwhile.
func (i *instance) Snapshot(ctx context.Context, name string) error {
	i.changing.Lock()
	defer i.changing.Unlock()
	if err := i.checkPersistent(); err != nil {
		return err
	}
	_, err := i.snapshot(ctx, name)
	if err == nil {
		return sandbox.Errorf(sandbox.Exists, "there is a snapshot %s already", name)
	}
	if sandbox.CodeOf(err) != sandbox.NotFound {
		return err
	}
	return i.commitSnapshot(ctx, i.containerID(), name)
}

// commitSnapshot saves a container's files as the snapshot name, which does not exist.
func (p *prepared) commitSnapshot(ctx context.Context, container, name string) error {
	return p.commit(ctx, container, snapshotImage(p.id, name), map[string]string{
		labelOurs: "1", labelHost: owner.User(), labelSnapshot: name, labelID: p.id, labelState: p.state.dir, labelPlace: owner.Place(p.state.dir),
	})
}

// snapshotImage returns the name of the image of a snapshot.
func snapshotImage(id, name string) string { return snapshotImages + ":" + id + "-" + name }

// checkPersistent returns an error unless the sandbox is persistent and open.
func (i *instance) checkPersistent() error {
	if !i.state.isPersistent() {
		return sandbox.Errorf(sandbox.Unsupported, "only a persistent sandbox has snapshots").WithHint("'agent-sandbox create' creates one")
	}
	if i.isClosed() {
		return sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	return nil
}

// images returns the images of the sandbox's snapshots, oldest first.
func (i *instance) images(ctx context.Context) ([]images.Summary, error) {
	found, err := i.engine.ImageList(ctx, client.ImageListOptions{
		Filters: client.Filters{}.Add("label", labelOurs+"=1", labelID+"="+i.id, labelSnapshot),
	})
	if err != nil {
		return nil, i.engine.Wrap(err, "list snapshots")
	}
	// Images of a container that was restored from a snapshot inherit its labels.
	out := slices.DeleteFunc(found.Items, func(s images.Summary) bool {
		return !slices.Contains(s.RepoTags, snapshotImage(i.id, s.Labels[labelSnapshot]))
	})
	sort.Slice(out, func(i, j int) bool { return out[i].Created < out[j].Created })
	return out, nil
}

func (i *instance) snapshot(ctx context.Context, name string) (images.Summary, error) {
	all, err := i.images(ctx)
	if err != nil {
		return images.Summary{}, err
	}
	at := slices.IndexFunc(all, func(s images.Summary) bool { return s.Labels[labelSnapshot] == name })
	if at < 0 {
		return images.Summary{}, sandbox.Errorf(sandbox.NotFound, "no snapshot %s", name).
			WithHint("'agent-sandbox snapshots NAME' lists them")
	}
	return all[at], nil
}

// Snapshots lists the snapshots, oldest first.
func (i *instance) Snapshots(ctx context.Context) ([]sandbox.SnapshotInfo, error) {
	if err := i.checkPersistent(); err != nil {
		return nil, err
	}
	all, err := i.images(ctx)
	var out []sandbox.SnapshotInfo
	for _, s := range all {
		out = append(out, sandbox.SnapshotInfo{
			Name: s.Labels[labelSnapshot], Created: time.Unix(s.Created, 0), Size: s.Size,
		})
	}
	return out, err
}

// RemoveSnapshot removes a snapshot.
func (i *instance) RemoveSnapshot(ctx context.Context, name string) error {
	i.changing.Lock()
	defer i.changing.Unlock()
	if err := i.checkPersistent(); err != nil {
		return err
	}
	if _, err := i.snapshot(ctx, name); err != nil {
		return err
	}
	return i.untag(ctx, snapshotImage(i.id, name))
}

// untag removes a name of an image. It succeeds if the name does not exist.
func (p *prepared) untag(ctx context.Context, reference string) error {
	remove := func() error {
		_, err := p.engine.ImageRemove(ctx, reference, client.ImageRemoveOptions{Force: true, PruneChildren: true})
		return p.engine.Wrap(err, "remove image "+reference)
	}
	err := remove()
	if err != nil && strings.Contains(err.Error(), "unrecognized image ID") {
		// At that moment another request removed the image, or one that it was made from: the second attempt finds that it no longer
		// exists.
		err = remove()
	}
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	return err
}

// Restore kills all processes and creates the container anew from a snapshot.
func (i *instance) Restore(ctx context.Context, name string) error {
	i.changing.Lock()
	defer i.changing.Unlock()
	if err := i.checkPersistent(); err != nil {
		return err
	}
	found, err := i.snapshot(ctx, name)
	if err != nil {
		return err
	}
	// The container's image gets its own name: the snapshot may be removed while the sandbox is stopped.
	if err := i.tag(ctx, found.ID, nextImage(i.id)); err != nil {
		return err
	}
	if err := i.end(ctx); err != nil {
		return err
	}
	i.state.Root, i.state.Base = nextImage(i.id), ""
	if err := i.state.save(); err != nil {
		return err
	}
	// From here on every start begins with the snapshot, also that of another process.
	_, err = i.engine.ContainerRemove(ctx, i.containerID(), client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err = i.engine.Wrap(err, "remove the container"); err != nil && sandbox.CodeOf(err) != sandbox.NotFound {
		return err
	}
	return i.begin(ctx)
}

// SaveState implements [sandbox.StateKeeper].
func (i *instance) SaveState(ctx context.Context, dir, snapshot string) error {
	i.changing.Lock()
	defer i.changing.Unlock()
	if err := i.checkPersistent(); err != nil {
		return err
	}
	to := state{dir: dir, Host: i.state.Host}
	var err error
	if to.ID, err = newID(); err != nil {
		return err
	}
	to.Root = nextImage(to.ID)
	if err := i.driver.claim(to); err != nil {
		return err
	}
	if snapshot == "" {
		err = i.commit(ctx, i.containerID(), to.Root, i.driver.claims(to.ID))
	} else {
		var found images.Summary
		if found, err = i.snapshot(ctx, snapshot); err == nil {
			err = i.tag(ctx, found.ID, to.Root)
		}
	}
	if err != nil {
		return err
	}
	if err := to.save(); err != nil {
		return errors.Join(err, i.untag(ctx, to.Root))
	}
	return nil
}

// tag gives an image another name.
func (p *prepared) tag(ctx context.Context, id, name string) error {
	_, err := p.engine.ImageTag(ctx, client.ImageTagOptions{Source: id, Target: name})
	return p.engine.Wrap(err, "name an image")
}
