package image

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
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Image describes an image. Since its layers do not change, it may be cached by ID.
type Image struct {
	ID       string              `json:"id"`
	Env      []string            `json:"env"`
	User     string              `json:"user"`     // as the Dockerfile names it
	ReadOnly bool                `json:"readOnly"` // it works with a read-only root
	Passwd   string              `json:"passwd"`
	Group    string              `json:"group"`
	Programs map[string][]string `json:"programs"` // wrapped command → resolved programs of that name
	Name     string              `json:"-"`        // by which Find found it
}

// readOnlyLabel marks an image whose programs write nothing to its root file system.
const readOnlyLabel = "agent-sandbox.rootfs"

// DefaultPath is the search path of an image that sets none.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// maxAccounts is the largest passwd or group file that is read.
const maxAccounts = 1 << 20

// Find returns an image by name, with the description of the engine. NotFound: the engine has no such image.
func Find(ctx context.Context, c *engine.Client, name string) (*Image, error) {
	found, err := c.ImageInspect(ctx, name)
	if err != nil {
		err = c.Wrap(err, "find image "+name)
		if sandbox.CodeOf(err) != sandbox.NotFound {
			return nil, err
		}
		e := sandbox.Errorf(sandbox.NotFound, "image %q does not exist", name)
		if strings.HasPrefix(name, "agent-sandbox-base:") {
			return nil, e.WithHint("'agent-sandbox build-base' makes it")
		}
		return nil, e.WithHint("'docker pull %s' fetches it", name)
	}
	i := &Image{ID: found.ID, Name: name, Programs: map[string][]string{}}
	if found.Config != nil {
		i.Env, i.User, i.ReadOnly = found.Config.Env, found.Config.User, found.Config.Labels[readOnlyLabel] == "read-only"
	}
	return i, nil
}

// Learn reads the accounts of the image and the programs of the named commands from a container with labels, which it never
// starts and removes at the end.
func (i *Image) Learn(ctx context.Context, c *engine.Client, labels map[string]string, names []string) error {
	return Read(ctx, c, i.ID, labels, func(r *Reader) error { return i.learn(ctx, r, names) })
}

func (i *Image) learn(ctx context.Context, r *Reader, names []string) error {
	for file, to := range map[string]*string{"/etc/passwd": &i.Passwd, "/etc/group": &i.Group} {
		data, err := r.file(ctx, file, maxAccounts)
		if err != nil && sandbox.CodeOf(err) != sandbox.NotFound {
			return err
		}
		*to = string(data)
	}
	for _, name := range names {
		programs, err := r.programs(ctx, name, i.Path())
		if err != nil {
			return err
		}
		i.Programs[name] = programs
	}
	return nil
}

// Path returns the search path of the image.
func (i *Image) Path() string {
	for _, kv := range i.Env {
		if p, ok := strings.CutPrefix(kv, "PATH="); ok && p != "" {
			return p
		}
	}
	return DefaultPath
}

// Reader reads files of an image.
type Reader struct {
	engine    *engine.Client
	container string
}

// Read creates a container of an image with labels, calls f, and removes the container, which never runs.
func Read(ctx context.Context, c *engine.Client, image string, labels map[string]string, f func(*Reader) error) (err error) {
	made, err := c.ContainerCreate(ctx, client.ContainerCreateOptions{
		Config:     &container.Config{Image: image, Cmd: []string{"-"}, Labels: labels},
		HostConfig: &container.HostConfig{NetworkMode: "none"},
	})
	if err != nil {
		return c.Wrap(err, "read image "+image)
	}
	defer func() {
		_, rerr := c.ContainerRemove(context.WithoutCancel(ctx), made.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		err = errors.Join(err, c.Wrap(rerr, "remove a container"))
	}()
	return f(&Reader{c, made.ID})
}

// file reads a regular file of at most limit bytes.
func (r *Reader) file(ctx context.Context, name string, limit int64) ([]byte, error) {
	var data []byte
	err := r.Copy(ctx, name, func(content io.Reader, size int64) (err error) {
		if size > limit {
			return sandbox.Errorf(sandbox.Invalid, "%s of the image is larger than %s", name, sandbox.Bytes(limit))
		}
		data, err = io.ReadAll(content)
		return err
	})
	return data, err
}

// Copy calls f with the content of a regular file. NotFound: there is none at name.
func (r *Reader) Copy(ctx context.Context, name string, f func(content io.Reader, size int64) error) error {
	res, err := r.engine.CopyFromContainer(ctx, r.container, client.CopyFromContainerOptions{SourcePath: name})
	if err != nil {
		return r.engine.Wrap(err, "read "+name+" of the image")
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

// gitPrograms are the directories of git's programs beside the search path.
const gitPrograms = "/usr/lib/git-core:/usr/libexec/git-core"

// programs returns the files that a command name resolves to, links followed, each once.
func (r *Reader) programs(ctx context.Context, name, search string) ([]string, error) {
	if name == "git" {
		search += ":" + gitPrograms
	}
	var out []string
	for dir := range strings.SplitSeq(search, ":") {
		if !strings.HasPrefix(dir, "/") {
			continue
		}
		at, ok, err := r.resolve(ctx, path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if ok && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out, nil
}

// resolve follows the links of a path to a regular file; false: there is none.
func (r *Reader) resolve(ctx context.Context, name string) (string, bool, error) {
	dir := path.Dir(name)
	if dir != "/" {
		at, ok, err := r.directory(ctx, dir)
		if err != nil || !ok {
			return "", false, err
		}
		name = path.Join(at, path.Base(name))
	}
	stat, ok, err := r.stat(ctx, name)
	if err != nil || !ok {
		return "", false, err
	}
	if stat.LinkTarget != "" && stat.LinkTarget != name {
		// The engine has followed the links within the image.
		name = stat.LinkTarget
		if stat, ok, err = r.stat(ctx, name); err != nil || !ok {
			return "", false, err
		}
	}
	return name, stat.Mode.IsRegular(), nil
}

// directory follows the links of a path to a directory; false: there is none.
func (r *Reader) directory(ctx context.Context, dir string) (string, bool, error) {
	stat, ok, err := r.stat(ctx, dir)
	if err != nil || !ok {
		return "", false, err
	}
	if stat.LinkTarget != "" {
		return stat.LinkTarget, true, nil
	}
	return dir, stat.Mode.IsDir(), nil
}

func (r *Reader) stat(ctx context.Context, name string) (container.PathStat, bool, error) {
	res, err := r.engine.ContainerStatPath(ctx, r.container, client.ContainerStatPathOptions{Path: name})
	if err == nil {
		return res.Stat, true, nil
	}
	err = r.engine.Wrap(err, "look at "+name+" of the image")
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return container.PathStat{}, false, nil
	}
	return container.PathStat{}, false, err
}
