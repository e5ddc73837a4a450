package filesystem

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Host holds the directories against which a policy's paths are resolved.
type Host struct {
	Workspace string            // resolved; empty: none
	Dir       string            // resolved start directory; empty: none
	Home      string            // resolved; empty: none
	Env       map[string]string // the host's environment
	account   string            // the home of this process's account, if it is not home; resolved; empty: none
	accounts  []string          // the homes of accounts besides home, which commands could read; resolved
	strangers []string          // the homes of the accounts beyond those, as they are written
	look      *hostpath.Lookups
}

// NewHost resolves the directories of a Spec. homes returns the home directories of the host's accounts, as Homes of package
// account does. The error has code Invalid, NotFound or Denied and names the directory.
func NewHost(spec sandbox.Spec, homes func(uid int) (own string, others []string)) (Host, error) {
	h := Host{Env: map[string]string{}, look: hostpath.NewLookups()}
	for _, kv := range spec.Env {
		if name, value, ok := strings.Cut(kv, "="); ok {
			h.Env[name] = value
		}
	}
	var err error
	if spec.Workspace != "" {
		if h.Workspace, err = directory("workspace", spec.Workspace); err != nil {
			return h, err
		}
		if root := hostpath.ReservedRoot(h.Workspace); root != "" {
			return h, sandbox.Errorf(sandbox.Invalid, "workspace %q: %s belongs to the sandbox", spec.Workspace, root)
		}
	}
	h.Dir = h.Workspace
	if spec.Dir != "" {
		if h.Dir, err = directory("start directory", spec.Dir); err != nil {
			return h, err
		}
	}
	if h.Home, err = homeDirectory(spec.Home, h.Env["HOME"]); err != nil {
		return h, err
	}
	h.locateAccounts(homes(os.Getuid()))
	return h, nil
}

// Locate resolves an absolute path on the host, as the rest of the policy sees it.
func (h Host) Locate(path string) (hostpath.Place, error) { return h.look.Locate(path) }

// homeDirectory resolves the home directory, which need not exist: services run
// with one that does not.
func homeDirectory(named, env string) (string, error) {
	home := named
	if home == "" && filepath.IsAbs(env) {
		home = env
	}
	if home == "" {
		return "", nil
	}
	if !filepath.IsAbs(home) {
		return "", sandbox.Errorf(sandbox.Invalid, "home directory %q is not an absolute path", home)
	}
	at, err := hostpath.Locate(home)
	if err != nil {
		return "", sandbox.Errorf(sandbox.Invalid, "home directory %q: %w", home, err)
	}
	return at.Path, nil
}

// directory resolves a directory that the Spec names and that must exist.
func directory(what, path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", sandbox.Errorf(sandbox.Invalid, "%s %q is not an absolute path", what, path)
	}
	at, err := hostpath.Locate(path)
	switch {
	case err != nil:
		return "", sandbox.Errorf(sandbox.Invalid, "%s %q: %w", what, path, err)
	case at.Blocked != "":
		return "", sandbox.Errorf(sandbox.Denied, "%s %q: permission denied in %s", what, path, at.Blocked)
	case !at.Exists:
		return "", sandbox.Errorf(sandbox.NotFound, "%s %q does not exist", what, path)
	case !at.Dir:
		return "", sandbox.Errorf(sandbox.Invalid, "%s %q is not a directory", what, path)
	}
	return at.Path, nil
}

// own returns the directories of agent-sandbox: configuration, trust store, state.
func (h Host) own() []string {
	all := []string{h.ownBelow("XDG_CONFIG_HOME", ".config"), h.data(), h.ownBelow("XDG_STATE_HOME", ".local/state")}
	return slices.DeleteFunc(all, func(dir string) bool { return dir == "" })
}

// data returns the directory with the data of agent-sandbox, or "" without a home directory.
func (h Host) data() string { return h.ownBelow("XDG_DATA_HOME", ".local/share") }

// MakeData creates the parts of agent-sandbox's data directory that do not exist: a start may create that directory, and a policy can
// protect and hide only what exists. It reports whether it has created any. isWritable reports whether commands could create a
// directory. Without a home directory that exists it creates none.
func (h Host) MakeData(isWritable func(dir string) bool) (made bool, err error) {
	if home, _ := h.look.Locate(h.Home); h.Home == "" || !home.Dir { // services run with a home directory that does not exist
		return false, nil
	}
	for _, part := range append(slices.Clone(private), "trust") {
		dir := filepath.Join(h.data(), part)
		if _, err := os.Lstat(dir); err == nil {
			continue
		}
		err := os.MkdirAll(dir, 0o700)
		made = made || err == nil
		if err != nil && isWritable(filepath.Dir(dir)) {
			return made, sandbox.Errorf(sandbox.Denied, "create %q, which commands could create otherwise: %w", dir, err)
		}
	}
	return made, nil
}

// ownBelow returns the directory of agent-sandbox below the one that a variable names, or else below one in the home directory.
func (h Host) ownBelow(variable, fallback string) string {
	base := h.Env[variable]
	if !filepath.IsAbs(base) {
		if h.Home == "" {
			return ""
		}
		base = filepath.Join(h.Home, fallback)
	}
	return filepath.Join(base, "agent-sandbox")
}

// users returns the names that the account of the home directory may have.
func (h Host) users() []string {
	var out []string
	for _, name := range []string{h.Env["USER"], h.Env["LOGNAME"], filepath.Base(h.Home)} {
		if name != "" && !strings.ContainsAny(name, "/\x00") && len(name) < 64 {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
