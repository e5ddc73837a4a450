package docker

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// image is what is known of an image, as its layers do not change.
type image struct {
	ID       string              `json:"id"`
	Env      []string            `json:"env"`
	User     string              `json:"user"`     // as its Dockerfile names it
	ReadOnly bool                `json:"readOnly"` // it works with a read-only root
	Passwd   string              `json:"passwd"`
	Group    string              `json:"group"`
	Programs map[string][]string `json:"programs"` // wrapped command → resolved programs of that name
	Name     string              `json:"-"`        // how it was asked for
}

// readOnlyLabel says that what runs in an image writes to nothing of its root file system.
const readOnlyLabel = "agent-sandbox.rootfs"

// defaultPath is the search path of an image that names none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// maxFact is how much of a small file of an image is read.
const maxFact = 1 << 20

// inspect learns what is needed of an image. What is in it is looked up in a container that is never started, once.
func (d *Driver) inspect(ctx context.Context, c *engine.Client, name string, commands []policy.Command) (*image, error) {
	found, err := c.ImageInspect(ctx, name)
	if err != nil {
		err = c.Wrap(err, "find image "+name)
		if sandbox.CodeOf(err) != sandbox.NotFound {
			return nil, err
		}
		e := sandbox.Errorf(sandbox.NotFound, "there is no image %s", name)
		if strings.HasPrefix(name, "agent-sandbox-base:") {
			return nil, e.WithHint("'agent-sandbox build-base' makes it")
		}
		return nil, e.WithHint("'docker pull %s' fetches it", name)
	}
	names := wrapped(commands)
	if known, ok := d.remembered(found.ID, names); ok {
		known.Name = name
		return known, nil
	}
	i := &image{ID: found.ID, Name: name, Programs: map[string][]string{}}
	if found.Config != nil {
		i.Env, i.User, i.ReadOnly = found.Config.Env, found.Config.User, found.Config.Labels[readOnlyLabel] == "read-only"
	}
	err = probe(ctx, c, found.ID, func(look *lookup) error { return i.learn(ctx, look, names) })
	if err != nil {
		return nil, err
	}
	return i, d.remember(i)
}

// wrapped are the names of commands with a rule, sorted.
func wrapped(commands []policy.Command) []string {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (i *image) learn(ctx context.Context, look *lookup, names []string) error {
	for file, to := range map[string]*string{"/etc/passwd": &i.Passwd, "/etc/group": &i.Group} {
		data, err := look.file(ctx, file, maxFact)
		if err != nil && sandbox.CodeOf(err) != sandbox.NotFound {
			return err
		}
		*to = string(data)
	}
	for _, name := range names {
		programs, err := look.programs(ctx, name, i.path())
		if err != nil {
			return err
		}
		i.Programs[name] = programs
	}
	return nil
}

// path is where the image looks for programs.
func (i *image) path() string {
	for _, kv := range i.Env {
		if p, ok := strings.CutPrefix(kv, "PATH="); ok && p != "" {
			return p
		}
	}
	return defaultPath
}

// lookup reads files of an image.
type lookup struct {
	engine    *engine.Client
	container string
}

// probe makes a container of an image for f to look into, which never runs.
func probe(ctx context.Context, c *engine.Client, image string, f func(*lookup) error) (err error) {
	made, err := c.ContainerCreate(ctx, client.ContainerCreateOptions{
		Config:     &container.Config{Image: image, Cmd: []string{"-"}, Labels: ownLabels()},
		HostConfig: &container.HostConfig{NetworkMode: "none"},
	})
	if err != nil {
		return c.Wrap(err, "look into image "+image)
	}
	defer func() {
		_, rerr := c.ContainerRemove(context.WithoutCancel(ctx), made.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		err = errors.Join(err, c.Wrap(rerr, "remove a container"))
	}()
	return f(&lookup{c, made.ID})
}

// file reads a regular file of at most limit bytes.
func (l *lookup) file(ctx context.Context, name string, limit int64) ([]byte, error) {
	var data []byte
	err := l.copy(ctx, name, func(r io.Reader, size int64) (err error) {
		if size > limit {
			return sandbox.Errorf(sandbox.Invalid, "%s of the image is larger than %s", name, sandbox.Bytes(limit))
		}
		data, err = io.ReadAll(r)
		return err
	})
	return data, err
}

// copy hands a regular file to f.
func (l *lookup) copy(ctx context.Context, name string, f func(r io.Reader, size int64) error) error {
	res, err := l.engine.CopyFromContainer(ctx, l.container, client.CopyFromContainerOptions{SourcePath: name})
	if err != nil {
		return l.engine.Wrap(err, "read "+name+" of the image")
	}
	defer res.Content.Close()
	archive := tar.NewReader(res.Content)
	h, err := archive.Next()
	if err != nil {
		return err
	}
	if h.Typeflag != tar.TypeReg {
		return sandbox.Errorf(sandbox.NotFound, "%s of the image is not a regular file", name)
	}
	return f(archive, h.Size)
}

// gitPrograms are where git keeps itself besides the search path.
const gitPrograms = "/usr/lib/git-core:/usr/libexec/git-core"

// programs finds the files that a name stands for, links followed, each once.
func (l *lookup) programs(ctx context.Context, name, search string) ([]string, error) {
	if name == "git" {
		search += ":" + gitPrograms
	}
	var out []string
	for dir := range strings.SplitSeq(search, ":") {
		if !strings.HasPrefix(dir, "/") {
			continue
		}
		at, ok, err := l.resolve(ctx, path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if ok && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out, nil
}

// resolve follows the links of a path to a regular file.
func (l *lookup) resolve(ctx context.Context, name string) (string, bool, error) {
	dir := path.Dir(name)
	if dir != "/" {
		at, ok, err := l.directory(ctx, dir)
		if err != nil || !ok {
			return "", false, err
		}
		name = path.Join(at, path.Base(name))
	}
	stat, ok, err := l.stat(ctx, name)
	if err != nil || !ok {
		return "", false, err
	}
	if stat.LinkTarget != "" && stat.LinkTarget != name {
		// The engine has followed the links, within the image.
		name = stat.LinkTarget
		if stat, ok, err = l.stat(ctx, name); err != nil || !ok {
			return "", false, err
		}
	}
	return name, stat.Mode.IsRegular(), nil
}

func (l *lookup) directory(ctx context.Context, dir string) (string, bool, error) {
	stat, ok, err := l.stat(ctx, dir)
	if err != nil || !ok {
		return "", false, err
	}
	if stat.LinkTarget != "" {
		return stat.LinkTarget, true, nil
	}
	return dir, stat.Mode.IsDir(), nil
}

func (l *lookup) stat(ctx context.Context, name string) (container.PathStat, bool, error) {
	res, err := l.engine.ContainerStatPath(ctx, l.container, client.ContainerStatPathOptions{Path: name})
	if err == nil {
		return res.Stat, true, nil
	}
	err = l.engine.Wrap(err, "look at "+name+" of the image")
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return container.PathStat{}, false, nil
	}
	return container.PathStat{}, false, err
}
