package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// cacheDirectory is a directory of the home that @caches makes writable, if it exists.
type cacheDirectory struct {
	name    string // below the home
	program string // which creates the directory when it first runs; empty: many do
	mode    fs.FileMode
}

var cacheDirectories = []cacheDirectory{
	{".cache", "", 0o700}, // the mode is that of the XDG base directory specification
	{".npm", "npm", 0o755},
	{"go", "go", 0o755},
	{".cargo", "cargo", 0o755},
	{".local/share/pnpm/store", "pnpm", 0o755},
	{".local/state/pnpm", "pnpm", 0o755},
	{".yarn/berry", "yarn", 0o755},
	{".bundle/cache", "bundle", 0o755},
}

// CreateCaches creates the directories of @caches that are absent in a fresh home and that an installed program would create on
// the host, too: inside, programs could not. It creates nothing in the home of another user or if the policy does not make it
// writable, and leaves errors to the commands that need the directories. Only sandboxes of bubblewrap show the home.
func CreateCaches(spec sandbox.Spec, backend string) {
	if backend != "" && backend != Default {
		return
	}
	var absent []cacheDirectory
	for _, c := range cacheDirectories {
		_, err := os.Lstat(filepath.Join(spec.Home, c.name))
		if errors.Is(err, fs.ErrNotExist) && (c.program == "" || IsInPath(spec.Env, c.program)) {
			absent = append(absent, c)
		}
	}
	if len(absent) == 0 || !isOwnDirectory(spec.Home) {
		return
	}
	plan, err := policy.Resolve(spec)
	if err != nil {
		return // the sandbox cannot be created, and the error says why
	}
	for _, c := range absent {
		path := filepath.Join(spec.Home, c.name)
		for _, r := range plan.Rules {
			if r.Preset == "@caches" && r.Missing && r.Access == policy.ReadWrite && r.Path == path {
				_ = os.MkdirAll(path, c.mode) // see above
			}
		}
	}
}

// IsInPath reports whether a directory of PATH has a program of that name.
func IsInPath(env []string, program string) bool {
	for _, dir := range filepath.SplitList(console.Lookup(env, "PATH")) {
		info, err := os.Stat(filepath.Join(dir, program))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// isOwnDirectory reports whether path is a directory of the user of this process.
func isOwnDirectory(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
