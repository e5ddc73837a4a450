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

// invocation is one bubblewrap command line with the data of its descriptors.
type invocation struct {
	args    []string
	first   int      // number of the first descriptor
	inputs  [][]byte // the data of descriptor first+i; nil: a pinned path
	pins    []*os.File
	mounted []pin // those of pins that are mounted
	pinned  bool  // open paths before the start, so that they cannot be replaced before they are mounted
}

// invocationOptions say what a bubblewrap command line is for.
type invocationOptions struct {
	tool    tool
	guest   string // the path of the guest's program
	dir     string // in which the command starts
	tmp     string // the directory that is mounted at /tmp; empty: a file system of the sandbox's own
	agents  []agentSocket
	gnupg   string       // GnuPG's directory on the host, whose public keys commands get; empty: none
	files   []proxy.File // mounted over those of the host
	seccomp []byte       // the filter's program
	filter  *os.File     // from which bubblewrap reads the filter's program; nil: seccomp has it
	first   int          // the number of the first descriptor
	pinned  bool         // open paths before the start where bubblewrap supports it
}

// newInvocation translates a plan for a command. The caller closes pins.
func newInvocation(plan *policy.Plan, o invocationOptions) (*invocation, error) {
	v := &invocation{first: o.first, pinned: o.pinned && o.tool.features.BindFD}
	v.namespaces(plan, o.tool)
	last := v.base(plan)
	more, err := v.mounts(plan, o.files, o.tmp)
	if err != nil {
		v.close()
		return nil, err
	}
	last = append(last, more...)
	v.host(plan)
	v.runtime(plan, o.guest)
	v.cover(o.files)
	if err := v.keyring(o.gnupg); err != nil {
		v.close()
		return nil, err
	}
	for _, a := range o.agents {
		v.add("--bind", a.path, a.inside)
	}
	for _, p := range last {
		v.add("--remount-ro", p)
	}
	v.add("--remount-ro", "/run", "--chdir", o.dir)
	if o.filter != nil {
		v.add("--seccomp", v.descriptor(nil, o.filter))
	} else {
		v.add("--seccomp", v.input(o.seccomp))
	}
	return v, nil
}

func (v *invocation) add(args ...string) { v.args = append(v.args, args...) }

// input passes data in a new descriptor and returns its number.
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
	// --unshare-user also for root: without it root would have the host's
	// user namespace and with it its rights over host objects.
	v.add("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
	if plan.Network.Mode != sandbox.NetworkHost {
		v.add("--unshare-net")
	}
	if !plan.Userns && t.features.DisableUserns {
		v.add("--disable-userns")
	}
	// Root would retain its capabilities in the new namespaces.
	v.add("--cap-drop", "ALL", "--die-with-parent")
}

// base adds the mounts of every sandbox, and returns those that become read-only at the end.
func (v *invocation) base(plan *policy.Plan) (last []string) {
	v.add("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run")
	if os.Geteuid() == 0 {
		// The kernel lets global root write sysctls in any namespace, and
		// bubblewrap covers only what access(2) calls writable.
		v.add("--ro-bind", "/proc/sys", "/proc/sys")
	}
	if plan.Limits.Tmp > 0 {
		// /dev is a tmpfs, too, which contains shared memory.
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

// mounts adds the plan's mounts and returns those that become read-only at the end, after
// everything below them is mounted. It omits a hidden file that is covered, because nothing can be
// mounted over one. tmp is the directory for /tmp, if one lasts.
func (v *invocation) mounts(plan *policy.Plan, covered []proxy.File, tmp string) (last []string, err error) {
	for _, m := range plan.Mounts {
		if slices.ContainsFunc(covered, func(f proxy.File) bool { return f.Path == m.Path }) {
			continue
		}
		switch m.Access {
		case policy.Private:
			if tmp != "" && m.Path == tmpPath {
				err = v.bindAt("--bind", tmp, m.Path)
				break
			}
			v.tmpfs(plan, m.Path)
		case policy.Exclude:
			if m.Dir {
				v.add("--perms", "0555", "--tmpfs", m.Path)
				last = append(last, m.Path)
				break
			}
			v.add("--perms", "0000", "--ro-bind-data", v.input(nil), m.Path)
		case policy.ReadOnly:
			err = v.bindAt("--ro-bind", m.Path, m.Path)
		case policy.ReadWrite:
			err = v.bindAt("--bind", m.Path, m.Path)
		}
		if err != nil {
			return nil, err
		}
	}
	return last, nil
}

// errReplaced is in the error if a path of the plan has another file than when the plan was made, or none.
var errReplaced = errors.New("changed while the sandbox was being started")

// bindAt mounts a host path at a path inside.
func (v *invocation) bindAt(option, path, inside string) error {
	if !v.pinned {
		v.add(option, path, inside)
		return nil
	}
	// The plan's paths contain no symbolic links. A link that was created since
	// would redirect the mount (as in CVE-2024-42472).
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		v.add(option, path, inside)
		return nil
	}
	if err != nil {
		return sandbox.Errorf(sandbox.NotFound, "%s %w: %w", path, errReplaced, err).WithHint("start it again")
	}
	f := os.NewFile(uintptr(fd), path)
	v.add(option+"-fd", v.descriptor(nil, f), inside)
	if info, err := f.Stat(); err == nil {
		v.mounted = append(v.mounted, pin{path, info})
	}
	return nil
}

// host adds files of the host below hidden directories: listed sockets and, with the host's
// network, the resolver's configuration.
func (v *invocation) host(plan *policy.Plan) {
	for _, path := range plan.Sockets {
		if !strings.HasPrefix(path, "/") || !isHidden(plan, path) {
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

// isHidden reports whether the host's file at path is invisible inside.
func isHidden(plan *policy.Plan, path string) bool {
	for _, own := range []string{"/run", "/dev", "/proc"} {
		if path == own || strings.HasPrefix(path, own+"/") {
			return true
		}
	}
	access, _ := plan.Access(path)
	return access == policy.Private || access == policy.Exclude
}

// runtime adds the guest's directory: the guest, and the wrappers of commands.
func (v *invocation) runtime(plan *policy.Plan, guestPath string) {
	v.add("--dir", layout.Root, "--ro-bind", guestPath, layout.Program)
	dirs := append([]string{layout.Root}, runtimeDirs(plan.Commands)...)
	presets := slices.Contains(dirs, layout.PresetDir)
	if presets {
		dirs = append(dirs, layout.PrivateDir)
	}
	for _, d := range dirs[1:] {
		v.add("--dir", d)
	}
	for _, c := range plan.Commands {
		v.command(plan, c)
	}
	if presets {
		for n, dir := range plan.Private() {
			v.add("--symlink", dir, filepath.Join(layout.PrivateDir, strconv.Itoa(n)))
		}
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
	for i := range dirs { // the deepest first: a directory without read permission hides those below
		v.add("--chmod", "0111", dirs[len(dirs)-1-i])
	}
}

// cover mounts files over those of the host, also in hidden directories, which then become
// read-only.
func (v *invocation) cover(files []proxy.File) {
	for _, f := range files {
		v.add("--perms", "0"+strconv.FormatUint(uint64(f.Mode), 8), "--ro-bind-data", v.input(f.Data), f.Path)
	}
}

// runtimeDirs returns the directories of the guest's layout that commands need. Each one costs a
// system call that the guard checks.
func runtimeDirs(commands []policy.Command) []string {
	needed := map[string]bool{}
	for _, c := range commands {
		needed[layout.DenyDir] = needed[layout.DenyDir] || c.Rule == "deny"
		needed[layout.WrapperDir] = needed[layout.WrapperDir] || c.Rule == "script"
		needed[layout.PresetDir] = needed[layout.PresetDir] || c.Rule == "preset"
		needed[layout.BinDir] = needed[layout.BinDir] || c.Real != ""
		for _, target := range c.Targets {
			shared := layout.IsShared(c.Name, target)
			needed[layout.TargetDir] = needed[layout.TargetDir] || shared
			needed[layout.AliasDir] = needed[layout.AliasDir] || !shared && filepath.Base(target) != c.Name
		}
	}
	maps.DeleteFunc(needed, func(_ string, need bool) bool { return !need })
	return slices.Sorted(maps.Keys(needed))
}

// command adds what the launcher needs for c; see package layout.
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
		case layout.IsShared(c.Name, target):
			v.add("--ro-bind", target, filepath.Join(layout.TargetDir, target))
		case filepath.Base(target) != c.Name:
			v.add("--symlink", c.Name, filepath.Join(layout.AliasDir, filepath.Base(target)))
		}
	}
}

// real mounts the program of a command where the launcher finds it. A Node script loads modules
// beside itself, so its directory tree is mounted with it.
func (v *invocation) real(plan *policy.Plan, c policy.Command) {
	link := filepath.Join(layout.BinDir, c.Name)
	rel, err := filepath.Rel(c.Tree, c.Real)
	if c.Tree == "" || err != nil || hasHiddenBelow(plan, c.Tree) {
		v.add("--ro-bind", c.Real, link)
		return
	}
	tree := filepath.Join(layout.Root, "trees", c.Name)
	v.add("--ro-bind", c.Tree, tree)
	v.add("--symlink", filepath.Join(tree, rel), link)
}

// hasHiddenBelow reports whether the plan hides anything in dir, which a second mount of dir would
// show.
func hasHiddenBelow(plan *policy.Plan, dir string) bool {
	if isHidden(plan, dir) {
		return true
	}
	return slices.ContainsFunc(plan.Mounts, func(m policy.Mount) bool {
		return m.Access == policy.Exclude && strings.HasPrefix(m.Path, dir+"/")
	})
}

// open creates the descriptors of inputs, in order.
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

// memfile returns an anonymous file with data, at its start.
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
