//go:build linux

package host

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// installFix is the command that installs bubblewrap.
const installFix = "sudo apt install bubblewrap (dnf, pacman, zypper and apk call it bubblewrap too)"

// trustedDirs returns the directories in which the system installs programs. They come before PATH, also because AppArmor
// profiles allow bubblewrap by its usual path.
func trustedDirs() []string { return []string{"/usr/bin", "/usr/local/bin", "/bin"} }

// Find returns the path of bubblewrap. It searches the system's directories, then the absolute directories of path. It
// rejects a program below a directory of forbid (the workspace, the working directory) and one that other users can
// write: a repository or another user could plant one. The error has code Unavailable.
func Find(path, forbid []string) (string, error) {
	var refused []string
	var inside string // a directory of forbid with an installed bubblewrap
	for _, dir := range slices.Concat(trustedDirs(), path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		name := filepath.Join(dir, "bwrap")
		real, err := filepath.EvalSymlinks(name)
		if err != nil {
			continue
		}
		why := findDistrust(name, real, forbid)
		if why == "" {
			return real, nil
		}
		if slices.Contains(trustedDirs(), dir) {
			inside = cmp.Or(inside, findWritable(name, real, forbid))
		}
		if entry := name + " (" + why + ")"; !slices.Contains(refused, entry) {
			refused = append(refused, entry)
		}
	}
	err := sandbox.Errorf(sandbox.Unavailable, "no trusted bubblewrap: %s", strings.Join(refused, ", "))
	switch {
	case len(refused) == 0:
		err = sandbox.Errorf(sandbox.Unavailable, "bubblewrap (bwrap) is not installed")
	case inside != "":
		return "", err.WithHint("commands could write to %s, and so to bubblewrap: start in the directory of a project, or name it with -C", inside)
	}
	return "", err.WithHint(installFix)
}

// findWritable returns the directory of forbid below which the program name lies, or real, to which it resolves; "": none.
func findWritable(name, real string, forbid []string) string {
	for _, dir := range forbid {
		resolved, err := filepath.EvalSymlinks(dir)
		if err != nil {
			resolved = filepath.Clean(dir)
		}
		// Both a link in the repository and a link into it.
		if isBelow(name, filepath.Clean(dir)) || isBelow(name, resolved) || isBelow(real, resolved) {
			return dir
		}
	}
	return ""
}

// findDistrust returns why the program name, which resolves to real, must not run; "" if it may.
func findDistrust(name, real string, forbid []string) string {
	if dir := findWritable(name, real, forbid); dir != "" {
		return "it is below " + dir
	}
	info, err := os.Stat(real)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return "it cannot be executed"
	}
	system := slices.Contains(trustedDirs(), filepath.Dir(real))
	for _, p := range []string{real, filepath.Dir(real), filepath.Dir(name)} {
		if why := writableByOthers(p, system); why != "" {
			return why
		}
	}
	return ""
}

func isBelow(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// writableByOthers returns which users besides root and the own user can change p; "" if none can. Root's group and a
// group with its owner's number (a user's private group) do not count. system: p belongs to a directory of the system,
// which root owns even where a user namespace cannot show it.
func writableByOthers(p string, system bool) string {
	info, err := os.Stat(p)
	if err != nil {
		return err.Error()
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return p + " has no owner"
	case st.Uid != 0 && int(st.Uid) != os.Geteuid() && (!system || !isUnmapped(st.Uid)):
		return fmt.Sprintf("%s belongs to user %d", p, st.Uid)
	case info.Mode()&0o002 != 0:
		return "every user can write " + p
	case info.Mode()&0o020 != 0 && st.Gid != 0 && st.Gid != st.Uid && !system:
		return fmt.Sprintf("group %d can write %s", st.Gid, p)
	}
	return ""
}

// isUnmapped reports whether uid is the overflow number of users that this user namespace does not map
// (user_namespaces(7)), root of the host among them.
func isUnmapped(uid uint32) bool {
	if int(uid) != sysctl("kernel/overflowuid") {
		return false
	}
	b, err := os.ReadFile("/proc/self/uid_map")
	// The initial namespace maps all numbers to themselves, and there it is an ordinary user.
	return err == nil && !slices.Equal(strings.Fields(string(b)), []string{"0", "0", "4294967295"})
}
