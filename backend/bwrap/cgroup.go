//go:build linux

package bwrap

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// hierarchy is a mounted cgroup hierarchy and our place in it (cgroups(7)).
type hierarchy struct {
	unified     bool     // version 2
	controllers []string // of version 1; version 2 lists them in each directory
	mount       string   // mount point
	own         string   // directory of the cgroup that we are in
}

// ownHierarchies reads where we are.
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

// parseHierarchies joins /proc/self/cgroup and /proc/self/mountinfo. A hierarchy
// that is not mounted is left out; of several mounts the first counts.
func parseHierarchies(cgroups, mountinfo string) []hierarchy {
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
		if h.locate(parts[2], mountinfo) {
			out = append(out, h)
		}
	}
	return out
}

// locate finds h's mount point and our directory below it. path is that of
// /proc/self/cgroup.
func (h *hierarchy) locate(path, mountinfo string) bool {
	scan := bufio.NewScanner(strings.NewReader(mountinfo))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		before, after, ok := strings.Cut(scan.Text(), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 3 || !h.matches(right[0], right[2]) {
			continue
		}
		root, mount := unescapeMount(left[3]), unescapeMount(left[4])
		h.mount, h.own = mount, mount
		// Outside the mount's root (another cgroup namespace) the mount point is
		// the closest that can be seen.
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) && !strings.HasPrefix(path, "/..") {
			h.own = filepath.Join(mount, rel)
		}
		return true
	}
	return false
}

func (h *hierarchy) matches(fsType, options string) bool {
	if h.unified {
		return fsType == "cgroup2"
	}
	if fsType != "cgroup" {
		return false
	}
	have := strings.Split(options, ",")
	return !slices.ContainsFunc(h.controllers, func(c string) bool { return !slices.Contains(have, c) })
}

// unescapeMount undoes the octal escapes of proc_pid_mountinfo(5).
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// home is a directory in which a cgroup can be made.
type home struct {
	hierarchy
	dir         string   // the new cgroup's parent
	controllers []string // of those asked for: usable in the new cgroup
	enable      []string // of these: first to be switched on in dir
}

// homes chooses where cgroups for the wanted controllers can be made: at most
// one home a hierarchy, and a controller in one home only. Controllers in must are worth
// switching on where they are off.
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

// homes lists the possible homes in h, nearest first.
func (h hierarchy) homes(want, must []string) []home {
	if !h.unified {
		held := slices.DeleteFunc(slices.Clone(want), func(c string) bool { return !slices.Contains(h.controllers, c) })
		if len(held) == 0 || !writable(h.own) || !writable(filepath.Join(h.own, "cgroup.procs")) {
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
		if writable(dir) && writable(filepath.Join(dir, "cgroup.procs")) {
			out = append(out, h.unifiedHome(dir, want, must))
		}
		if dir == "/" {
			break
		}
	}
	return out
}

func (h hierarchy) unifiedHome(dir string, want, must []string) home {
	available, on := words(dir, "cgroup.controllers"), words(dir, "cgroup.subtree_control")
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
	return writable(filepath.Join(dir, "cgroup.subtree_control")) &&
		(isCgroupRoot(dir) || len(words(dir, "cgroup.procs")) == 0)
}

// isCgroupRoot reports whether dir is the root of all version 2 cgroups, which
// alone has no type.
func isCgroupRoot(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "cgroup.type"))
	return os.IsNotExist(err)
}

// words reads a file of space-separated words; a file that cannot be read has none.
func words(dir, name string) []string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil
	}
	return strings.Fields(string(b))
}

// writable asks with the effective IDs, and is false on a read-only mount.
func writable(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}
