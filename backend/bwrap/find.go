//go:build linux

package bwrap

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// installFix is how bubblewrap is installed.
const installFix = "sudo apt install bubblewrap (dnf, pacman, zypper and apk call it bubblewrap too)"

// trustedDirs are where the system installs programs. They come before PATH, also
// because AppArmor profiles bless bubblewrap by its usual path.
func trustedDirs() []string { return []string{"/usr/bin", "/usr/local/bin", "/bin"} }

// findBwrap looks for bubblewrap where the system installs it, then in the
// absolute directories of path. Never below a directory of forbid (the
// workspace, the working directory) and never where others can write: a repository
// or a stranger could plant one. The error has code Unavailable.
func findBwrap(path, forbid []string) (string, error) {
	var refused []string
	for _, dir := range slices.Concat(trustedDirs(), path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		name := filepath.Join(dir, "bwrap")
		real, err := filepath.EvalSymlinks(name)
		if err != nil {
			continue
		}
		why := untrusted(name, real, forbid)
		if why == "" {
			return real, nil
		}
		refused = append(refused, name+" ("+why+")")
	}
	if len(refused) > 0 {
		return "", sandbox.Errorf(sandbox.Unavailable, "no bubblewrap that can be trusted: %s", strings.Join(refused, ", ")).
			WithHint(installFix)
	}
	return "", sandbox.Errorf(sandbox.Unavailable, "bubblewrap (bwrap) is not installed").WithHint(installFix)
}

// untrusted says why the program name, which is the file real, is not run; "" when it is.
func untrusted(name, real string, forbid []string) string {
	for _, dir := range forbid {
		resolved, err := filepath.EvalSymlinks(dir)
		if err != nil {
			resolved = filepath.Clean(dir)
		}
		// By either way in: a link of the repository's, or a link into it.
		if below(name, filepath.Clean(dir)) || below(name, resolved) || below(real, resolved) {
			return "it is below " + dir
		}
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

func below(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// writableByOthers says who else than root and us can change p. A group that is
// root's or bears its owner's own number (a user's private group) is nobody else.
// system says that p belongs to a directory of the system, whose owner is root
// also where a user namespace cannot say so.
func writableByOthers(p string, system bool) string {
	info, err := os.Stat(p)
	if err != nil {
		return err.Error()
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return p + " has no owner"
	case st.Uid != 0 && int(st.Uid) != os.Geteuid() && (!system || !unmapped(st.Uid)):
		return fmt.Sprintf("%s belongs to user %d", p, st.Uid)
	case info.Mode()&0o002 != 0:
		return "everybody can write " + p
	case info.Mode()&0o020 != 0 && st.Gid != 0 && st.Gid != st.Uid && !system:
		return fmt.Sprintf("group %d can write %s", st.Gid, p)
	}
	return ""
}

// unmapped reports whether uid stands for owners that our user namespace does not
// know (user_namespaces(7)), root of the host among them.
func unmapped(uid uint32) bool {
	if int(uid) != sysctl("kernel/overflowuid") {
		return false
	}
	b, err := os.ReadFile("/proc/self/uid_map")
	// The initial namespace maps everything on itself, and there it is an ordinary user.
	return err == nil && !slices.Equal(strings.Fields(string(b)), []string{"0", "0", "4294967295"})
}
