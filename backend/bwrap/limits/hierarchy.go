//go:build linux

package limits

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/mountinfo"
)

// hierarchy is a mounted cgroup hierarchy and this process's cgroup in it (cgroups(7)).
type hierarchy struct {
	unified     bool     // version 2
	controllers []string // of version 1; version 2 lists them in each directory
	mount       string   // mount point
	own         string   // directory of this process's cgroup
}

// ownHierarchies returns the hierarchies of this process.
func ownHierarchies() ([]hierarchy, error) {
	cgroups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return parseHierarchies(string(cgroups), string(mounts)), nil
}

// parseHierarchies joins /proc/self/cgroup and /proc/self/mountinfo. It omits a hierarchy
// that is not mounted; of several mounts the first counts.
func parseHierarchies(cgroups, mounted string) []hierarchy {
	mounts := parseCgroupMounts(mounted)
	var out []hierarchy
	for line := range strings.Lines(cgroups) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		h := hierarchy{unified: parts[0] == "0" && parts[1] == ""}
		if !h.unified {
			h.controllers = strings.Split(parts[1], ",")
		}
		if i := slices.IndexFunc(mounts, h.matches); i >= 0 {
			h.locate(mounts[i], parts[2])
			out = append(out, h)
		}
	}
	return out
}

// cgroupMount is a mounted hierarchy.
type cgroupMount struct {
	unified     bool
	options     []string
	root, point string
}

func parseCgroupMounts(text string) []cgroupMount {
	var out []cgroupMount
	for _, m := range mountinfo.Parse(text) {
		if m.Type == "cgroup" || m.Type == "cgroup2" {
			out = append(out, cgroupMount{m.Type == "cgroup2", m.Options, m.Root, m.Point})
		}
	}
	return out
}

// locate sets the mount point of h and this process's directory in it. path is that of /proc/self/cgroup.
func (h *hierarchy) locate(m cgroupMount, path string) {
	h.mount, h.own = m.point, m.point
	// Outside the mount's root (another cgroup namespace) the mount point is the
	// closest visible directory.
	if rel, err := filepath.Rel(m.root, path); err == nil && filepath.IsLocal(rel) && !strings.HasPrefix(path, "/..") {
		h.own = filepath.Join(m.point, rel)
	}
}

func (h *hierarchy) matches(m cgroupMount) bool {
	if h.unified || m.unified {
		return h.unified == m.unified
	}
	return !slices.ContainsFunc(h.controllers, func(c string) bool { return !slices.Contains(m.options, c) })
}

// home is a directory in which a cgroup can be created.
type home struct {
	hierarchy
	dir         string   // the new cgroup's parent
	controllers []string // of the wanted ones: usable in the new cgroup
	enable      []string // of controllers: must be enabled in dir first
}

// homes chooses directories for cgroups with the wanted controllers: at most one per hierarchy, and each controller in one
// only. A controller in must is enabled where it is off.
func homes(all []hierarchy, want, must []string) []home {
	var out []home
	for _, h := range all {
		var best home
		for _, candidate := range h.homes(want, must) {
			if len(candidate.controllers) > len(best.controllers) {
				best = candidate
			}
		}
		if len(best.controllers) > 0 {
			out = append(out, best)
		}
	}
	return out
}

// homes returns the possible homes in h, nearest first.
func (h hierarchy) homes(want, must []string) []home {
	if !h.unified {
		held := slices.DeleteFunc(slices.Clone(want), func(c string) bool { return !slices.Contains(h.controllers, c) })
		if len(held) == 0 || !isWritable(h.own) || !isWritable(filepath.Join(h.own, "cgroup.procs")) {
			return nil
		}
		return []home{{hierarchy: h, dir: h.own, controllers: held}}
	}
	var out []home
	// A cgroup with processes of its own cannot pass controllers on, except the
	// root (the "no internal processes" rule), so ours would be a sibling.
	dir := h.own
	if !isCgroupRoot(dir) {
		dir = filepath.Dir(dir)
	}
	for ; strings.HasPrefix(dir+"/", h.mount+"/"); dir = filepath.Dir(dir) {
		// Moving a process needs the right to write in the common ancestor too.
		if isWritable(dir) && isWritable(filepath.Join(dir, "cgroup.procs")) {
			out = append(out, h.unifiedHome(dir, want, must))
		}
		if dir == "/" {
			break
		}
	}
	return out
}

func (h hierarchy) unifiedHome(dir string, want, must []string) home {
	available, on := readWords(dir, "cgroup.controllers"), readWords(dir, "cgroup.subtree_control")
	out := home{hierarchy: h, dir: dir}
	for _, c := range want {
		switch {
		case slices.Contains(on, c):
			out.controllers = append(out.controllers, c)
		case slices.Contains(available, c) && slices.Contains(must, c) && canEnable(dir):
			out.controllers = append(out.controllers, c)
			out.enable = append(out.enable, c)
		}
	}
	return out
}

func canEnable(dir string) bool {
	return isWritable(filepath.Join(dir, "cgroup.subtree_control")) &&
		(isCgroupRoot(dir) || len(readWords(dir, "cgroup.procs")) == 0)
}

// isCgroupRoot reports whether dir is the root of all version 2 cgroups, the only one without a cgroup.type.
func isCgroupRoot(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "cgroup.type"))
	return os.IsNotExist(err)
}

// readWords returns the space-separated words of a file, none if it cannot be read.
func readWords(dir, name string) []string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil
	}
	return strings.Fields(string(b))
}

// isWritable reports whether the effective user may write path; false on a read-only mount.
func isWritable(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}
