package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	api "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// state is the content of a persistent sandbox's Spec.State: the container that belongs to it. The stopped container holds
// the root file system.
type state struct {
	dir string // empty: the sandbox ends with this process

	ID   string `json:"id"`             // of the sandbox; the container's name is made of it
	Host string `json:"host"`           // of the engine
	Root string `json:"root,omitempty"` // the image that the next container begins with; empty: the Spec's
	Base string `json:"base,omitempty"` // the Spec's image to which Root belongs; empty: any
}

const stateFile = "docker.json"

func loadState(dir string) (state, error) {
	s := state{dir: dir}
	if dir == "" {
		return s, nil
	}
	data, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return s, sandbox.Errorf(sandbox.Invalid, "%s: %w", filepath.Join(dir, stateFile), err)
	}
	return s, nil
}

// save writes the state to its directory, if it has one.
func (s state) save() error {
	if s.dir == "" {
		return nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(s.dir, stateFile), data, 0o600)
}

// isPersistent reports whether the container outlives this process.
func (s state) isPersistent() bool { return s.dir != "" }

// configHash identifies a container's configuration. It omits the image, because a new container begins with the old one's
// files, and the location of the State, which has other numbers after a boot.
func configHash(o client.ContainerCreateOptions) (string, error) {
	config := *o.Config
	config.Image, config.Labels = "", maps.Clone(config.Labels)
	delete(config.Labels, labelPlace)
	data, err := json.Marshal([]any{config, o.HostConfig})
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:12]), nil
}

// container returns the ID of the container that options describe. For a persistent sandbox it is the existing one or, if
// the configuration has changed since, a new one with the files of the old.
func (p *prepared) container(ctx context.Context, options client.ContainerCreateOptions) (string, error) {
	if !p.state.isPersistent() {
		return p.create(ctx, options)
	}
	config, err := configHash(options)
	if err != nil {
		return "", err
	}
	options.Config.Labels[labelConfig] = config
	found, err := p.engine.ContainerInspect(ctx, options.Name, client.ContainerInspectOptions{})
	err = p.engine.Wrap(err, "look at the sandbox's container")
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return p.create(ctx, options)
	}
	if err != nil {
		return "", err
	}
	old := found.Container
	if old.Config == nil || old.Config.Labels[labelState] != p.state.dir {
		return "", sandbox.Errorf(sandbox.Exists, "there is a container %s that is not this sandbox's", options.Name).
			WithHint("look at it, and remove it: docker rm %s", options.Name)
	}
	if old.Config.Labels[labelID] != p.id { // of a destroyed sandbox of that name, whose files must not come back
		if _, err := p.engine.ContainerRemove(ctx, old.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
			return "", p.engine.Wrap(err, "remove the container of an earlier sandbox")
		}
		return p.create(ctx, options)
	}
	if old.State != nil && old.State.Running { // its owner was killed, and the engine has not noticed
		if err := p.kill(ctx, old.ID); err != nil {
			return "", err
		}
	}
	if base := old.Config.Labels[labelBase]; base != p.image.Name && base != "" {
		return p.rebase(ctx, old.ID, base, options)
	}
	if old.Config.Labels[labelConfig] == config {
		return old.ID, nil
	}
	return p.replace(ctx, old.ID, options)
}

// root returns the image that the sandbox's container begins with; empty: the Spec's.
func (p *prepared) root() string {
	if p.state.Base != "" && p.state.Base != p.image.Name {
		return ""
	}
	return p.state.Root
}

// rebase creates a container from another image than the one of the old container, whose files become a snapshot. A Spec with
// the old image begins with them: until the new container runs, the change may be taken back.
func (p *prepared) rebase(ctx context.Context, old, base string, options client.ContainerCreateOptions) (string, error) {
	name := "before-" + p.created.UTC().Format("20060102-150405.000")
	if err := p.commitSnapshot(ctx, old, name); err != nil {
		return "", err
	}
	p.state.Root, p.state.Base = snapshotImage(p.id, name), base
	if err := p.state.save(); err != nil {
		return "", err
	}
	if err := p.requestRemoval(ctx, old); err != nil {
		return "", err
	}
	p.rebased = true
	options.Config.Image = p.image.ID
	return p.create(ctx, options)
}

// undoRebase removes a container that rebase has created and that did not start.
func (p *prepared) undoRebase(ctx context.Context, container string) error {
	if !p.rebased || container == "" {
		return nil
	}
	err := p.requestRemoval(ctx, container)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	return err
}

// replace creates a container with the files of another and removes that one.
func (p *prepared) replace(ctx context.Context, old string, options client.ContainerCreateOptions) (string, error) {
	p.state.Root, p.state.Base = nextImage(p.id), ""
	if err := p.commit(ctx, old, p.state.Root, nil); err != nil {
		return "", err
	}
	if err := p.state.save(); err != nil {
		return "", err
	}
	_, err := p.engine.ContainerRemove(ctx, old, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil {
		return "", p.engine.Wrap(err, "remove the sandbox's old container")
	}
	options.Config.Image = p.state.Root
	return p.create(ctx, options)
}

// commit creates an image of a container's files, whose name protects it from a prune.
func (p *prepared) commit(ctx context.Context, container, reference string, labels map[string]string) error {
	save := func() error {
		_, err := p.engine.ContainerCommit(ctx, container, client.ContainerCommitOptions{
			Reference: reference, Config: &api.Config{Labels: labels},
		})
		return p.engine.Wrap(err, "save the files of the sandbox")
	}
	err := save()
	if err != nil && strings.Contains(err.Error(), "failed to get digest") {
		err = save() // at that moment another request removed an image, such as that of a fork that failed
	}
	return err
}

// create creates a container. The image that it begins with keeps its name: an engine that removes the last name of an image
// removes the image below a stopped container, of which it then cannot make an image.
func (p *prepared) create(ctx context.Context, options client.ContainerCreateOptions) (string, error) {
	made, err := p.engine.ContainerCreate(ctx, options)
	if err != nil {
		return "", p.engine.Wrap(err, "create a container of "+p.image.Name)
	}
	for _, w := range made.Warnings {
		p.driver.options.Trace("docker", w)
	}
	return made.ID, p.addFiles(ctx, made.ID)
}

// kill kills a running container and waits for its end.
func (p *prepared) kill(ctx context.Context, id string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := p.await(ctx, id, api.WaitConditionNotRunning)
	_, err := p.engine.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "KILL"})
	err = p.engine.Wrap(err, "stop the container")
	if code := sandbox.CodeOf(err); code == sandbox.NotFound || code == sandbox.Exists { // it does not run
		return nil
	}
	if err != nil {
		return err
	}
	return p.engine.Wrap(<-ended, "wait for the container's end")
}

// await returns a channel that receives once: nil when the container has reached the condition, an error when ctx ends.
func (p *prepared) await(ctx context.Context, id string, condition api.WaitCondition) <-chan error {
	wait := p.engine.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: condition})
	end := make(chan error, 1)
	go func() { // one of the two comes, at the latest when ctx ends
		select {
		case <-wait.Result:
			end <- nil
		case err := <-wait.Error:
			end <- err
		}
	}()
	return end
}
