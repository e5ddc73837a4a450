//go:build linux

package host

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// oldestBwrap is the first version with every option of neededOptions.
const oldestBwrap = "0.8.0"

// Features are the properties in which supported versions of bubblewrap differ.
type Features struct {
	DisableUserns bool     // --disable-userns
	BindFD        bool     // --bind-fd and --ro-bind-fd
	Argv0         bool     // --Argv0
	setuid        bool     // installed set-user-ID root
	missing       []string // of neededOptions
}

// neededOptions returns the options that the driver always passes.
func neededOptions() []string {
	return []string{
		"--bind", "--block-fd", "--cap-drop", "--chdir", "--chmod", "--dev", "--die-with-parent", "--dir",
		"--json-status-fd", "--new-session", "--perms", "--proc", "--remount-ro", "--ro-bind", "--ro-bind-data",
		"--seccomp", "--size", "--symlink", "--tmpfs", "--unshare-cgroup-try", "--unshare-ipc", "--unshare-net",
		"--unshare-pid", "--unshare-user", "--unshare-uts",
	}
}

// Probe returns the features of the bubblewrap at path, from its help text. It caches them in cacheDir for the same file,
// so that most runs start one process less; empty: no cache. cacheDir must be out of reach of sandboxes, since a forged
// cache could switch off --disable-userns. The error has code Unavailable.
func Probe(ctx context.Context, path, cacheDir string) (Features, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Features{}, sandbox.Errorf(sandbox.Unavailable, "bubblewrap: %w", err).WithHint(installFix)
	}
	key := probeKey(path, info)
	options, ok := cachedOptions(cacheDir, key)
	if !ok {
		if options, err = askOptions(ctx, path); err != nil {
			return Features{}, err
		}
		storeOptions(cacheDir, key, options)
	}
	f := featuresOf(options)
	f.setuid = info.Mode()&os.ModeSetuid != 0
	return f, nil
}

// Usable returns an Unavailable error when the bubblewrap at path lacks something that the driver needs.
func (f Features) Usable(path string) error {
	switch {
	case f.setuid:
		return sandbox.Errorf(sandbox.Unavailable, "%s is set-user-ID root, so it does not build user namespaces of the caller's", path).
			WithHint("sudo chmod u-s %s", path)
	case len(f.missing) > 0:
		return sandbox.Errorf(sandbox.Unavailable, "%s is too old: it lacks %s", path, strings.Join(f.missing, ", ")).
			WithHint("install bubblewrap %s or newer", oldestBwrap)
	}
	return nil
}

func featuresOf(options []string) Features {
	has := func(option string) bool { return slices.Contains(options, option) }
	return Features{
		DisableUserns: has("--disable-userns"),
		BindFD:        has("--bind-fd") && has("--ro-bind-fd"),
		Argv0:         has("--Argv0"),
		missing:       slices.DeleteFunc(neededOptions(), has),
	}
}

// askOptions returns the options in bubblewrap's help text.
func askOptions(ctx context.Context, path string) ([]string, error) {
	out, err := askBwrap(ctx, path, "--help")
	if err != nil {
		return nil, err
	}
	return parseOptions(out), nil
}

// parseOptions returns the first word of each indented line if it is an option, sorted.
func parseOptions(help string) []string {
	var out []string
	for line := range strings.Lines(help) {
		if f := strings.Fields(line); len(f) > 0 && line[0] == ' ' && strings.HasPrefix(f[0], "--") {
			out = append(out, f[0])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bwrapVersion returns bubblewrap's version such as "0.8.0", "" if it cannot be read.
func bwrapVersion(ctx context.Context, path string) string {
	out, err := askBwrap(ctx, path, "--version")
	if err != nil {
		return ""
	}
	return regexp.MustCompile(`\d+(\.\d+)+`).FindString(out)
}

// askBwrap runs bubblewrap with one option and no environment.
func askBwrap(ctx context.Context, path, option string) (string, error) {
	cmd := exec.CommandContext(ctx, path, option)
	cmd.Env = []string{"LC_ALL=C"}
	out, err := cmd.Output()
	if err != nil {
		return "", sandbox.Errorf(sandbox.Unavailable, "%s %s: %w", path, option, err)
	}
	return string(out), nil
}

// probeKey identifies one state of a file: replacing or rewriting the file changes the key.
func probeKey(path string, info os.FileInfo) string {
	key := fmt.Sprintf("%s %d %s", path, info.Size(), info.ModTime().UTC())
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		key += fmt.Sprintf(" %d:%d %d.%d", st.Dev, st.Ino, st.Ctim.Sec, st.Ctim.Nsec)
	}
	return key
}

// probeFile is the cache: the quoted key, an option on each line, and probeEnd. A file without probeEnd is truncated, and
// an option could seem to be missing. Every start reads the file, for which package json would be slow.
const (
	probeFile = "bwrap-options"
	probeEnd  = "end"
)

// maxProbe bounds the cache.
const maxProbe = 1 << 16

// cachedOptions reads the cache. It ignores a file that another user could have written.
func cachedOptions(dir, key string) ([]string, bool) {
	if dir == "" {
		return nil, false
	}
	f, err := os.OpenFile(filepath.Join(dir, probeFile), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o022 != 0 || info.Size() > maxProbe {
		return nil, false
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(f, maxProbe))
	if err != nil {
		return nil, false
	}
	lines := strings.Split(string(data), "\n")
	if last := len(lines) - 1; last < 1 || lines[0] != strconv.Quote(key) || lines[last] != probeEnd {
		return nil, false
	}
	return lines[1 : len(lines)-1], true
}

// storeOptions replaces the cache in one step. When it fails, the next run asks bubblewrap again.
func storeOptions(dir, key string, options []string) {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	text := strings.Join(slices.Concat([]string{strconv.Quote(key)}, options, []string{probeEnd}), "\n")
	f, err := os.CreateTemp(dir, probeFile+".") // mode 0600
	if err != nil {
		return
	}
	_, err = f.WriteString(text)
	if closed := f.Close(); err == nil && closed == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, probeFile))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}
