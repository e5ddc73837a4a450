package docker

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/backend/docker/owner"
	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Sweep removes containers, images and files of this user's sandboxes whose process was killed or whose State was removed.
func (d *Driver) Sweep(ctx context.Context) error {
	c, err := d.engine(ctx, "")
	if err != nil {
		return err
	}
	return d.sweep(ctx, c)
}

// sweep removes nothing of another host or user that shares the engine.
func (d *Driver) sweep(ctx context.Context, c *engine.Client) error {
	ours := client.Filters{}.Add("label", labelOurs+"=1")
	found, err := c.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: ours})
	if err != nil {
		return c.Wrap(err, "list containers")
	}
	var errs []error
	known := map[string]bool{}
	for _, one := range found.Items {
		if !isOrphan(one.Labels) {
			known[one.Labels[labelID]] = true
			continue
		}
		d.options.Trace("docker", "removing container "+one.ID+", whose owner has ended")
		_, err := c.ContainerRemove(ctx, one.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err = c.Wrap(err, "remove a container"); sandbox.CodeOf(err) != sandbox.NotFound && !isInProgress(err) {
			errs = append(errs, err)
		}
	}
	errs = append(errs, d.sweepRoots(ctx, c), d.sweepImages(ctx, c, ours, known))
	// Images without a container and a snapshot.
	_, err = c.ImagePrune(ctx, client.ImagePruneOptions{Filters: client.Filters{}.Add("label", labelOurs+"=1").Add("dangling", "true")})
	if !isInProgress(err) {
		errs = append(errs, c.Wrap(err, "remove images"))
	}
	d.sweepFiles(known)
	d.sweepSockets()
	return errors.Join(errs...)
}

// nextAge is the minimum age of unclaimed images for removal: a container may be about to be created from a younger one.
const nextAge = 24 * time.Hour

// sweepImages removes the snapshots of sandboxes whose State was removed, and images for containers that were never created.
func (d *Driver) sweepImages(ctx context.Context, c *engine.Client, ours client.Filters, known map[string]bool) error {
	found, err := c.ImageList(ctx, client.ImageListOptions{Filters: ours})
	if err != nil {
		return c.Wrap(err, "list images")
	}
	var errs []error
	p := &prepared{driver: d, engine: c}
	for _, image := range found.Items {
		for _, name := range image.RepoTags {
			repository, id, _ := strings.Cut(name, ":")
			if repository != nextImages && repository != snapshotImages {
				continue
			}
			if held, _ := d.claimed(id); repository == nextImages && (held || known[id]) {
				continue
			}
			old := time.Since(time.Unix(image.Created, 0)) > nextAge && image.Labels[labelHost] == owner.User()
			if isOrphan(image.Labels) || image.Labels[labelState] == "" && old {
				errs = append(errs, p.untag(ctx, name))
			}
		}
	}
	return errors.Join(errs...)
}

// isInProgress reports whether the engine is already carrying out the request.
func isInProgress(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "already in progress") || strings.Contains(err.Error(), "already running"))
}

// isOrphan reports whether the owner of one of this user's containers or images, a process or a State, has ended.
func isOrphan(labels map[string]string) bool {
	if labels[labelHost] != owner.User() {
		return false
	}
	if dir := labels[labelState]; dir != "" {
		return owner.IsRemoved(dir, labels[labelPlace])
	}
	return owner.HasEnded(labels[labelOwner])
}

// fileAge is the minimum age of files for removal: younger ones may belong to a sandbox that is being created.
const fileAge = time.Hour

// sweepFiles removes the files of sandboxes without a container. The next sweep retries those that cannot be removed.
func (d *Driver) sweepFiles(known map[string]bool) {
	entries, err := os.ReadDir(d.dir("boxes"))
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && !known[e.Name()] && time.Since(info.ModTime()) > fileAge {
			_ = os.RemoveAll(d.dir("boxes", e.Name()))
		}
	}
}
