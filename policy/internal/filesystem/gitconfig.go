package filesystem

import (
	"path/filepath"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy/internal/git"
	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
)

// maxIncludes bounds how deep configuration files include each other, as git does.
const maxIncludes = 10

// hookNames are the hooks of githooks(5), for a core.hooksPath that is a whole
// checkout and cannot be protected as one directory.
var hookNames = []string{
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg",
	"commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update",
	"proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc",
	"post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change",
}

// gitConfig reads a configuration file and the files that it includes under any
// condition, and protects the included files.
func (f *Resolution) gitConfig(file string) []git.Variable { return f.gitConfigAt(file, 0) }

func (f *Resolution) gitConfigAt(file string, level int) []git.Variable {
	vars := git.ReadConfig(file)
	out := make([]git.Variable, 0, len(vars))
	for _, v := range vars {
		out = append(out, v)
		included := v.Key == "include.path" || strings.HasPrefix(v.Key, "includeif.") && strings.HasSuffix(v.Key, ".path")
		if !included || level >= maxIncludes {
			continue
		}
		if path := f.gitPath(v.Value, filepath.Dir(file)); path != "" {
			f.protectPath(path, "@git")
			out = append(out, f.gitConfigAt(path, level+1)...)
		}
	}
	return out
}

// globalGitConfig reads the user's and the machine's configuration.
func (f *Resolution) globalGitConfig() []git.Variable {
	files := []string{"/etc/gitconfig"}
	if f.Home != "" {
		base := f.Env["XDG_CONFIG_HOME"]
		if !filepath.IsAbs(base) {
			base = filepath.Join(f.Home, ".config")
		}
		files = append(files, filepath.Join(base, "git", "config"), filepath.Join(f.Home, ".gitconfig"))
	}
	if file := f.Env["GIT_CONFIG_GLOBAL"]; filepath.IsAbs(file) {
		files = append(files, file)
		f.protectPath(file, "@git")
	}
	var out []git.Variable
	for _, file := range files {
		out = append(out, f.gitConfig(file)...)
	}
	return out
}

// protectHooksPath protects the directory that core.hooksPath names. A relative one
// starts where hooks run: at the top of the checkout.
func (f *Resolution) protectHooksPath(v git.Variable, root string) {
	if v.Key != "core.hookspath" {
		return
	}
	path := f.gitPath(v.Value, root)
	if path == "" {
		return
	}
	if at, err := hostpath.Locate(path); err != nil || !hostpath.IsWithin(root, at.Path) {
		f.protectPath(path, "@git")
		return
	}
	for _, name := range hookNames {
		f.protectBelow("/", filepath.Join(path, name), "@git")
	}
}

// gitPath makes the value of a path variable absolute; "" for forms that are not
// supported (~user, %(prefix)).
func (f *Resolution) gitPath(value, base string) string {
	value = strings.TrimPrefix(value, ":(optional)")
	switch {
	case value == "" || strings.HasPrefix(value, "%(prefix)"):
		return ""
	case value == "~" || strings.HasPrefix(value, "~/"):
		if f.Home == "" {
			return ""
		}
		return f.Home + value[1:]
	case filepath.IsAbs(value):
		return value
	}
	return base + "/" + value
}
