//go:build linux

package bwrap

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/proxy"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// invocation is one bubblewrap command line and what its descriptors carry.
type invocation struct {
	args   []string
	first  int      // number of the first descriptor
	inputs [][]byte // what descriptor first+i reads; nil: it is a pinned path
	pins   []*os.File
	pinned bool // open paths ahead, so that they cannot be exchanged before they are mounted
}

// newInvocation translates a plan for a command that starts in dir, and covers files.
// Descriptors count from first. The caller closes what pins holds.
func newInvocation(plan *policy.Plan, t tool, guestPath, dir string, files []proxy.File, seccomp []byte, first int, pinned bool) (*invocation, error) {
	v := &invocation{first: first, pinned: pinned && t.features.BindFD}
	v.namespaces(plan, t)
	last := v.base(plan)
	more, err := v.mounts(plan, files)
	if err != nil {
		v.close()
		return nil, err
	}
	last = append(last, more...)
	v.host(plan)
	v.runtime(plan, guestPath)
	v.cover(files)
	for _, p := range last {
		v.add("--remount-ro", p)
	}
	v.add("--remount-ro", "/run", "--chdir", dir)
	v.add("--seccomp", v.input(seccomp))
	return v, nil
}

func (v *invocation) add(args ...string) { v.args = append(v.args, args...) }

// input hands data over in a descriptor of its own.
func (v *invocation) input(data []byte) string {
	if data == nil {
		data = []byte{}
	}
	return v.descriptor(data, nil)
}

func (v *invocation) descriptor(data []byte, pin *os.File) string {
	v.inputs = append(v.inputs, data)
	v.pins = append(v.pins, pin)
	return strconv.Itoa(v.first + len(v.inputs) - 1)
}

func (v *invocation) close() {
	for _, f := range v.pins {
		if f != nil {
			_ = f.Close()
		}
	}
}

func (v *invocation) namespaces(plan *policy.Plan, t tool) {
	// --unshare-user also for root: without it root would keep the host's
	// user namespace and with it its rights over host objects.
	v.add("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
	if plan.Network.Mode != sandbox.NetworkHost {
		v.add("--unshare-net")
	}
	if !plan.Userns && t.features.DisableUserns {
		v.add("--disable-userns")
	}
	// Root would keep its rights inside the new namespaces.
	v.add("--cap-drop", "ALL", "--die-with-parent")
}

// base adds what every sandbox has, and returns what becomes read-only at the end.
func (v *invocation) base(plan *policy.Plan) (last []string) {
	v.add("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run")
	if os.Geteuid() == 0 {
		// The kernel lets global root write sysctls in any namespace, and
		// bubblewrap covers only what access(2) calls writable.
		v.add("--ro-bind", "/proc/sys", "/proc/sys")
	}
	if plan.Limits.Tmp > 0 {
		// /dev is a tmpfs too, and shared memory lies in it.
		v.tmpfs(plan, "/dev/shm")
		last = append(last, "/dev")
	}
	return last
}

// tmpfs adds a private file system of limited size.
func (v *invocation) tmpfs(plan *policy.Plan, path string) {
	if plan.Limits.Tmp > 0 {
		v.add("--size", strconv.FormatInt(int64(plan.Limits.Tmp), 10))
	}
	v.add("--perms", "1777", "--tmpfs", path)
}

// mounts adds the plan's mounts and returns what is to become read-only at the
// end, when everything below it stands. Nothing can be mounted over a hidden file, so one
// that is covered stays out.
func (v *invocation) mounts(plan *policy.Plan, covered []proxy.File) (last []string, err error) {
	for _, m := range plan.Mounts {
		if slices.ContainsFunc(covered, func(f proxy.File) bool { return f.Path == m.Path }) {
			continue
		}
		switch m.Access {
		case policy.Private:
			v.tmpfs(plan, m.Path)
		case policy.Exclude:
			if m.Dir {
				v.add("--perms", "0555", "--tmpfs", m.Path)
				last = append(last, m.Path)
				break
			}
			v.add("--perms", "0000", "--ro-bind-data", v.input(nil), m.Path)
		case policy.ReadOnly:
			err = v.bind("--ro-bind", m.Path)
		case policy.ReadWrite:
			err = v.bind("--bind", m.Path)
		}
		if err != nil {
			return nil, err
		}
	}
	return last, nil
}

// bind mounts a host path in its own place.
func (v *invocation) bind(option, path string) error {
	if !v.pinned {
		v.add(option, path, path)
		return nil
	}
	// The plan's paths hold no symbolic links. One that appeared since would
	// lead the mount elsewhere (CVE-2024-42472 is of this kind).
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		v.add(option, path, path)
		return nil
	}
	if err != nil {
		return sandbox.Errorf(sandbox.NotFound, "%s changed while the sandbox was being started: %w", path, err).
			WithHint("start it again")
	}
	v.add(option+"-fd", v.descriptor(nil, os.NewFile(uintptr(fd), path)), path)
	return nil
}

// host adds the pieces of the host that lie under what is hidden: listed sockets
// and, with the host's network, the resolver's configuration.
func (v *invocation) host(plan *policy.Plan) {
	for _, path := range plan.Sockets {
		if !strings.HasPrefix(path, "/") || !hidden(plan, path) {
			continue
		}
		if _, err := os.Lstat(path); err == nil {
			v.add("--bind", path, path)
		}
	}
	if plan.Network.Mode != sandbox.NetworkHost {
		return
	}
	target, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err == nil && strings.HasPrefix(target, "/run/") {
		v.add("--ro-bind", target, target)
	}
}

// hidden reports whether the host's object at path is not seen inside.
func hidden(plan *policy.Plan, path string) bool {
	for _, own := range []string{"/run", "/dev", "/proc"} {
		if path == own || strings.HasPrefix(path, own+"/") {
			return true
		}
	}
	access, _ := plan.Access(path)
	return access == policy.Private || access == policy.Exclude
}

// runtime adds our own directory: the guest, and the wrappers of commands.
func (v *invocation) runtime(plan *policy.Plan, guestPath string) {
	v.add("--dir", layout.Root, "--ro-bind", guestPath, layout.Program)
	dirs := append([]string{layout.Root}, runtimeDirs(plan.Commands)...)
	for _, d := range dirs[1:] {
		v.add("--dir", d)
	}
	for _, c := range plan.Commands {
		v.command(plan, c)
	}
	covered := map[string]bool{}
	for _, c := range plan.Commands {
		for _, target := range c.Targets {
			if !covered[target] {
				v.add("--ro-bind", guestPath, target)
				covered[target] = true
			}
		}
	}
	for i := range dirs { // the deepest first: a closed directory hides what is below
		v.add("--chmod", "0111", dirs[len(dirs)-1-i])
	}
}

// cover puts files over what the plan hides, also in directories that it hides and that
// are read-only from then on.
func (v *invocation) cover(files []proxy.File) {
	for _, f := range files {
		v.add("--perms", "0"+strconv.FormatUint(uint64(f.Mode), 8), "--ro-bind-data", v.input(f.Data), f.Path)
	}
}

// runtimeDirs are the directories of the guest's layout that commands need. Each
// costs a system call that the guard is asked about.
func runtimeDirs(commands []policy.Command) []string {
	needed := map[string]bool{}
	for _, c := range commands {
		needed[layout.DenyDir] = needed[layout.DenyDir] || c.Rule == "deny"
		needed[layout.WrapperDir] = needed[layout.WrapperDir] || c.Rule == "script"
		needed[layout.PresetDir] = needed[layout.PresetDir] || c.Rule == "preset"
		needed[layout.BinDir] = needed[layout.BinDir] || c.Real != ""
		for _, target := range c.Targets {
			shared := layout.Shared(c.Name, target)
			needed[layout.TargetDir] = needed[layout.TargetDir] || shared
			needed[layout.AliasDir] = needed[layout.AliasDir] || !shared && filepath.Base(target) != c.Name
		}
	}
	maps.DeleteFunc(needed, func(_ string, need bool) bool { return !need })
	return slices.Sorted(maps.Keys(needed))
}

// command adds what the launcher needs to serve c; see package guest's layout.
func (v *invocation) command(plan *policy.Plan, c policy.Command) {
	switch c.Rule {
	case "deny":
		v.add("--dir", filepath.Join(layout.DenyDir, c.Name))
	case "script":
		v.add("--perms", "0555", "--ro-bind-data", v.input(c.Script), filepath.Join(layout.WrapperDir, c.Name))
	case "preset":
		v.add("--dir", filepath.Join(layout.PresetDir, c.Name))
	}
	if c.Real != "" {
		v.real(plan, c)
	}
	for _, target := range c.Targets {
		switch {
		case layout.Shared(c.Name, target):
			v.add("--ro-bind", target, filepath.Join(layout.TargetDir, target))
		case filepath.Base(target) != c.Name:
			v.add("--symlink", c.Name, filepath.Join(layout.AliasDir, filepath.Base(target)))
		}
	}
}

// real puts the program of a command where the launcher finds it. A Node script
// looks for its neighbors beside itself, so it comes with the tree it lies in.
func (v *invocation) real(plan *policy.Plan, c policy.Command) {
	link := filepath.Join(layout.BinDir, c.Name)
	rel, err := filepath.Rel(c.Tree, c.Real)
	if c.Tree == "" || err != nil || hidesBelow(plan, c.Tree) {
		v.add("--ro-bind", c.Real, link)
		return
	}
	tree := filepath.Join(layout.Root, "trees", c.Name)
	v.add("--ro-bind", c.Tree, tree)
	v.add("--symlink", filepath.Join(tree, rel), link)
}

// hidesBelow reports whether the plan hides anything in dir, which a second view
// of dir would show.
func hidesBelow(plan *policy.Plan, dir string) bool {
	if hidden(plan, dir) {
		return true
	}
	return slices.ContainsFunc(plan.Mounts, func(m policy.Mount) bool {
		return m.Access == policy.Exclude && strings.HasPrefix(m.Path, dir+"/")
	})
}

// open makes the descriptors that inputs describe, in order.
func (v *invocation) open() ([]*os.File, error) {
	var files []*os.File
	for i, data := range v.inputs {
		f := v.pins[i]
		var err error
		switch {
		case f != nil:
		case len(data) == 0:
			f, err = os.Open(os.DevNull)
		default:
			f, err = memfile(data)
		}
		if err != nil {
			return files, err
		}
		files = append(files, f)
	}
	return files, nil
}

// memfile is an anonymous file that holds data, at its beginning.
func memfile(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("agent-sandbox", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd: %w", err)
	}
	f := os.NewFile(uintptr(fd), "memfd")
	if _, err := f.WriteAt(data, 0); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
