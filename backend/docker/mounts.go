package docker

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/moby/moby/api/types/mount"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/proxy"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// isWithin reports whether path is root or lies in it.
func isWithin(root, path string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// view is one path of the host in a container, with its access.
type view struct {
	path   string // on the host
	at     string // inside
	access policy.Access
	dir    bool
}

// views returns what the plan shows of the host, parents first. A path appears only once inside. If the workspace has another
// path inside than on the host, and a mount of a directory above it would show it a second time without its protections, it is
// hidden there.
func (p *prepared) views() ([]view, error) {
	plan, roots := p.plan, p.plan.Shown()
	found := map[string]view{}
	for _, root := range roots {
		if root == "/" {
			return nil, sandbox.Errorf(sandbox.Unsupported, "docker: / of a container belongs to its image, not to the host").
				WithHint("name the directories that you need")
		}
		info, err := os.Lstat(root)
		if err != nil {
			return nil, sandbox.Errorf(sandbox.NotFound, "%w", err)
		}
		access, _ := plan.Access(root)
		found[root] = view{root, p.at(root), access, info.IsDir()}
	}
	for _, m := range plan.Mounts {
		if slices.ContainsFunc(roots, func(root string) bool { return isWithin(root, m.Path) }) {
			found[m.Path] = view{m.Path, p.at(m.Path), m.Access, m.Dir}
		}
	}
	var out []view
	if ws := plan.Workspace; ws != "" && p.at(ws) != ws &&
		slices.ContainsFunc(roots, func(root string) bool { return root != ws && isWithin(root, ws) }) {
		out = append(out, view{ws, ws, policy.Exclude, true})
	}
	for _, v := range found {
		out = append(out, v)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].at < out[j].at })
	return out, nil
}

// mounts returns the mounts of a container, without tmpfs.
func (p *prepared) mounts() ([]mount.Mount, error) {
	out := []mount.Mount{bind(p.runtime, layout.Root, true)}
	for _, program := range p.wrappers() {
		out = append(out, bind(filepath.Join(p.runtime, "agent-sandbox"), program, true))
	}
	all, err := p.views()
	if err != nil {
		return nil, err
	}
	for _, v := range all {
		source := v.path
		if v.access == policy.Exclude {
			if source, err = p.driver.hidden(v.dir); err != nil {
				return nil, err
			}
		}
		if v.access != policy.Private {
			out = append(out, bind(source, v.at, v.access != policy.ReadWrite))
		}
	}
	for _, s := range p.plan.Sockets {
		out = append(out, bind(s, p.at(s), false))
	}
	for _, v := range p.spec.Volumes {
		out = append(out, mount.Mount{
			Type: mount.TypeVolume, Source: v.Name, Target: v.Target, ReadOnly: v.ReadOnly,
			VolumeOptions: &mount.VolumeOptions{Labels: v.Labels},
		})
	}
	out = append(out, p.checkout.mounts...)
	return out, checkTargets(out)
}

// wrappers returns the programs of the image that the guest replaces.
func (p *prepared) wrappers() []string {
	var out []string
	for _, c := range p.plan.Commands {
		out = append(out, p.image.Programs[c.Name]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bind mounts a path of the host. A read-only mount omits file systems that are mounted below it, which older engines would
// leave writable.
func bind(source, target string, readOnly bool) mount.Mount {
	return mount.Mount{
		Type: mount.TypeBind, Source: source, Target: target, ReadOnly: readOnly,
		BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate, NonRecursive: readOnly},
	}
}

// files writes the gateway's files to the sandbox's own directory and returns their mounts.
func (p *prepared) files(files []proxy.File) ([]mount.Mount, error) {
	var out []mount.Mount
	for n, f := range files {
		name := filepath.Join(p.own(), fmt.Sprintf("file-%d", n))
		if err := writeFile(name, f.Data, os.FileMode(f.Mode)); err != nil {
			return nil, err
		}
		out = append(out, bind(name, p.at(f.Path), true))
	}
	return out, nil
}

// overlayMounts appends more to all and drops from all the mounts with the same targets: a file with a placeholder replaces one
// that the plan hides.
func overlayMounts(all, more []mount.Mount) []mount.Mount {
	return append(slices.DeleteFunc(all, func(m mount.Mount) bool {
		return slices.ContainsFunc(more, func(f mount.Mount) bool { return f.Target == m.Target })
	}), more...)
}

// own returns the sandbox's own directory on the host.
func (p *prepared) own() string { return p.driver.dir("boxes", p.id) }

// hidden returns the host path that is mounted over a hidden path: an empty directory, or a file with mode 0.
func (d *Driver) hidden(dir bool) (string, error) {
	if dir {
		name := d.dir("hidden", "directory")
		return name, os.MkdirAll(name, 0o755)
	}
	name := d.dir("hidden", "file")
	if info, err := os.Lstat(name); err == nil && info.Mode() == 0 && info.Size() == 0 {
		return name, nil
	}
	return name, writeFile(name, nil, 0)
}

// checkTargets rejects two mounts at one path, and mounts over what the isolation needs.
func checkTargets(all []mount.Mount) error {
	seen := map[string]bool{}
	for _, m := range all {
		t := filepath.Clean(m.Target)
		if !filepath.IsAbs(m.Target) || t == "/" {
			return sandbox.Errorf(sandbox.Invalid, "target %q is not an absolute path below /", m.Target)
		}
		for _, own := range []string{"/proc", "/sys", "/dev"} {
			if isWithin(own, t) {
				return sandbox.Errorf(sandbox.Invalid, "nothing can stand at %s: %s belongs to the sandbox", t, own)
			}
		}
		if isWithin(layout.Root, t) && m.Type == mount.TypeVolume {
			return sandbox.Errorf(sandbox.Invalid, "nothing can stand at %s: %s belongs to the sandbox", t, layout.Root)
		}
		if seen[t] {
			return sandbox.Errorf(sandbox.Invalid, "two mounts at %s", t)
		}
		seen[t] = true
	}
	return nil
}

// private returns the directories inside that end with the sandbox.
func (p *prepared) private() []string {
	dirs := p.plan.Private()
	for n, dir := range dirs {
		dirs[n] = p.at(dir)
	}
	return dirs
}

// tmpfs returns the options of the private file systems by path.
func (p *prepared) tmpfs() map[string]string {
	options := "rw,exec,nosuid,nodev,mode=1777"
	if n := p.plan.Limits.Tmp; n > 0 {
		options += fmt.Sprintf(",size=%d", n)
	}
	out := map[string]string{"/tmp": options, "/var/tmp": options}
	for _, dir := range p.private() {
		out[dir] = options
	}
	if p.image.ReadOnly {
		out[p.user.Home] = fmt.Sprintf("rw,exec,nosuid,nodev,mode=700,uid=%d,gid=%d", p.user.UID, p.user.GID)
		out["/run"] = "rw,nosuid,nodev,noexec,mode=755"
	}
	return out
}
