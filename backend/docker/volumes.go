package docker

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// checkout has the protections of a volume's project and git directory: those of the workspace at the same names.
type checkout struct {
	names  []guard.Name       // that must not be created
	mounts []mount.Mount      // of what exists, read-only
	files  []session.Identity // of the mounts
}

// surveyScript prints the device, inode and path of each argument that exists and is not a symbolic link.
const surveyScript = `for p; do [ -L "$p" ] || [ ! -e "$p" ] || stat -c '%d %i %n' "$p"; done`

// protectVolumes returns what protects the projects on the sandbox's volumes. A volume's files are visible to the engine only:
// a container looks for them, and the guest compares what is mounted with what that container saw, because another sandbox
// with the volume may exchange a path for a symbolic link.
func (p *prepared) protectVolumes(ctx context.Context) error {
	for _, v := range p.spec.Volumes {
		if v.Project == "" && v.Git == "" {
			continue
		}
		paths, names := p.volumeRules(v)
		p.checkout.names = append(p.checkout.names, names...)
		if v.Git != "" {
			if err := p.shareHooks(path.Join(v.Target, v.Git, "hooks")); err != nil {
				return err
			}
		}
		if err := p.survey(ctx, v, paths); err != nil {
			return err
		}
	}
	return nil
}

// volumeRules returns the paths inside that are read-only if they exist, and the names that must not be created.
func (p *prepared) volumeRules(v sandbox.Volume) (paths []string, names []guard.Name) {
	on := func(host string) (string, bool) {
		rest, ok := strings.CutPrefix(host, p.plan.Workspace)
		in, inGit := strings.CutPrefix(rest, "/.git")
		switch {
		case !ok || p.plan.Workspace == "" || rest != "" && rest[0] != '/':
			return "", false
		case inGit && (in == "" || in[0] == '/'):
			return path.Join(v.Target, v.Git, in), v.Git != "" && in != ""
		}
		return path.Join(v.Target, v.Project, rest), v.Project != ""
	}
	add := func(dir, name string, except []guard.Path) {
		names = append(names, guard.Name{Dir: guard.Path(dir), Name: guard.Path(name), Except: except})
	}
	for _, m := range p.plan.Mounts {
		if at, ok := on(m.Path); ok && m.Access == policy.ReadOnly {
			paths = append(paths, at)
			add(path.Dir(at), path.Base(at), nil)
		}
	}
	for _, g := range p.plan.Guards {
		at, ok := on(g.Dir)
		if !ok && g.Dir == p.plan.Workspace+"/.git" { // the git directory itself is none of the paths above
			at, ok = path.Join(v.Target, v.Git), v.Git != ""
		}
		if !ok || at == path.Join(v.Target, v.Git) && (g.Name == "worktrees" || g.Name == "modules") {
			continue // Git has the worktrees of the volume, and their submodules
		}
		var except []guard.Path
		for _, name := range g.Except {
			except = append(except, guard.Path(name))
		}
		add(at, g.Name, except)
		if g.Name != "*" {
			paths = append(paths, path.Join(at, g.Name))
		}
	}
	lock := func(elem ...string) {
		at := path.Join(append([]string{v.Target}, elem...)...)
		paths = append(paths, at)
		add(path.Dir(at), path.Base(at), nil)
	}
	if v.Git != "" {
		lock(v.Git, "config")
	}
	if v.Git != "" && v.Project != "" { // a linked worktree: these say where its repository is
		own := path.Join(v.Git, "worktrees", path.Base(v.Project))
		lock(v.Project, ".git")
		lock(own, "commondir")
		lock(own, "gitdir")
		lock(own, "config.worktree")
	}
	slices.Sort(paths)
	return slices.Compact(paths), names
}

// shareHooks mounts the hooks of the workspace at dir, if the workspace has some.
func (p *prepared) shareHooks(dir string) error {
	hooks := p.plan.Workspace + "/.git/hooks"
	if !slices.ContainsFunc(p.plan.Mounts, func(m policy.Mount) bool { return m.Path == hooks && m.Dir && m.Access == policy.ReadOnly }) {
		return nil
	}
	file := session.Identity{Path: guard.Path(dir)}
	if p.sameKernel {
		var err error
		if file.Dev, file.Ino, err = identity(hooks); err != nil {
			return err
		}
	}
	p.checkout.mounts = append(p.checkout.mounts, bind(hooks, dir, true))
	p.checkout.files = append(p.checkout.files, file)
	return nil
}

// survey adds the mounts of those of the paths that exist on a volume.
func (p *prepared) survey(ctx context.Context, v sandbox.Volume, paths []string) error {
	found, err := p.engine.VolumeInspect(ctx, v.Name, client.VolumeInspectOptions{})
	err = p.engine.Wrap(err, "find volume "+v.Name)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil // it is empty
	}
	if err != nil {
		return err
	}
	if found.Volume.Mountpoint == "" {
		return sandbox.Errorf(sandbox.Unsupported, "volume %s lies in no directory of the engine's host, so its files cannot be protected", v.Name).
			WithHint("use a volume of the driver \"local\"")
	}
	out, err := p.engine.Run(ctx, job.Run{
		Image: p.image.ID, User: p.user.Identity(), Args: append([]string{"sh", "-c", surveyScript, "sh"}, paths...),
		Volumes: []sandbox.Volume{{Name: v.Name, Target: v.Target, ReadOnly: true}},
	})
	if err != nil {
		return err
	}
	if out.Code != 0 {
		return sandbox.Errorf(sandbox.Internal, "cannot look at volume %s: status %d: %.300s", v.Name, out.Code, out.Stderr)
	}
	for line := range strings.Lines(string(out.Stdout)) {
		var file session.Identity
		dev, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		ino, at, ok := strings.Cut(rest, " ")
		if !ok || !slices.Contains(paths, at) {
			return sandbox.Errorf(sandbox.Internal, "cannot look at volume %s: unexpected line %.100q", v.Name, line)
		}
		if file.Dev, err = strconv.ParseUint(dev, 10, 64); err == nil {
			file.Ino, err = strconv.ParseUint(ino, 10, 64)
		}
		if err != nil || file.Ino == 0 {
			return sandbox.Errorf(sandbox.Internal, "cannot look at volume %s: unexpected line %.100q", v.Name, line)
		}
		if slices.ContainsFunc(p.checkout.mounts, func(m mount.Mount) bool { return isWithin(m.Target, at) }) {
			continue // the hooks of the workspace are there
		}
		file.Path = guard.Path(at)
		m := bind(path.Join(found.Volume.Mountpoint, strings.TrimPrefix(at, v.Target)), at, true)
		m.BindOptions.Propagation = mount.PropagationRSlave // an engine demands it for its own directory
		p.checkout.mounts = append(p.checkout.mounts, m)
		p.checkout.files = append(p.checkout.files, file)
	}
	return nil
}
