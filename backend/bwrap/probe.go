//go:build linux

package bwrap

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

// features are what a bubblewrap can do beyond what all supported versions do.
type features struct {
	disableUserns bool     // --disable-userns
	bindFD        bool     // --bind-fd and --ro-bind-fd
	argv0         bool     // --argv0
	setuid        bool     // installed set-user-ID root
	missing       []string // options that we cannot do without
}

// neededOptions are those that the driver always passes.
func neededOptions() []string {
	return []string{
		"--bind", "--block-fd", "--cap-drop", "--chdir", "--chmod", "--dev", "--die-with-parent", "--dir",
		"--json-status-fd", "--new-session", "--perms", "--proc", "--remount-ro", "--ro-bind", "--ro-bind-data",
		"--seccomp", "--size", "--symlink", "--tmpfs", "--unshare-cgroup-try", "--unshare-ipc", "--unshare-net",
		"--unshare-pid", "--unshare-user", "--unshare-uts",
	}
}

// probe tells what the bubblewrap at path can do, from its help text. With a
// cacheDir the answer is kept there for the same file, so that most runs start one process less; it
// must be out of reach of sandboxes, since a forged answer could switch off
// --disable-userns. Empty: no cache. The error has code Unavailable.
func probe(ctx context.Context, path, cacheDir string) (features, error) {
	info, err := os.Stat(path)
	if err != nil {
		return features{}, sandbox.Errorf(sandbox.Unavailable, "bubblewrap: %w", err).WithHint(installFix)
	}
	key := probeKey(path, info)
	options, ok := cachedOptions(cacheDir, key)
	if !ok {
		if options, err = askOptions(ctx, path); err != nil {
			return features{}, err
		}
		storeOptions(cacheDir, key, options)
	}
	f := featuresOf(options)
	f.setuid = info.Mode()&os.ModeSetuid != 0
	return f, nil
}

// features tells what the bubblewrap at path can do, and fails with Unavailable
// when that is not enough.
func (d *Driver) features(ctx context.Context, path string) (features, error) {
	f, err := probe(ctx, path, d.options.DataDir)
	if err == nil {
		err = f.usable(path)
	}
	return f, err
}

// usable is the error for a bubblewrap that lacks something, or nil.
func (f features) usable(path string) error {
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

func featuresOf(options []string) features {
	has := func(option string) bool { return slices.Contains(options, option) }
	return features{
		disableUserns: has("--disable-userns"),
		bindFD:        has("--bind-fd") && has("--ro-bind-fd"),
		argv0:         has("--argv0"),
		missing:       slices.DeleteFunc(neededOptions(), has),
	}
}

// askOptions lists the options in bubblewrap's help text.
func askOptions(ctx context.Context, path string) ([]string, error) {
	out, err := askBwrap(ctx, path, "--help")
	if err != nil {
		return nil, err
	}
	return parseOptions(out), nil
}

// parseOptions takes the first word of each indented line that is an option.
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

// bwrapVersion is such as "0.8.0", or "" when it does not say.
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

// probeKey stands for one state of a file: replacing or rewriting it changes it.
func probeKey(path string, info os.FileInfo) string {
	key := fmt.Sprintf("%s %d %s", path, info.Size(), info.ModTime().UTC())
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		key += fmt.Sprintf(" %d:%d %d.%d", st.Dev, st.Ino, st.Ctim.Sec, st.Ctim.Nsec)
	}
	return key
}

// probeFile is the cache: the quoted key, an option on each line, and probeEnd, without which the file is not whole and
// an option could seem to be missing. It is read at each start, for which package json would be slow.
const (
	probeFile = "bwrap-options"
	probeEnd  = "end"
)

// maxProbe bounds the cache.
const maxProbe = 1 << 16

// cachedOptions reads the cache. One that others could have written does not count.
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

// storeOptions writes the cache in one step. It may fail: then the next run asks again.
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
