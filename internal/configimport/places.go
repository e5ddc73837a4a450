package configimport

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Host has the directories in which settings lie and to which their paths are relative.
// Home and Dir must be absolute.
type Host struct {
	Home       string // the home directory
	Dir        string // the working directory, resolved
	ConfigHome string // XDG_CONFIG_HOME; empty or relative: Home/.config
	ClaudeDir  string // CLAUDE_CONFIG_DIR; empty: Home/.claude

	// Read returns the content of a file. An error that wraps sandbox.ErrNotFound means
	// that the file does not exist. Nil: Import reads no other file, and fails for
	// settings that extend one.
	Read func(file string) ([]byte, error)
	// List returns the names in a directory, sorted; nil: none.
	List func(dir string) []string
}

// File is one file of settings.
type File struct {
	Name string // its name in messages; Claude Code's paths start at its directory
	Data []byte
}

var fenceNames = []string{"fence.jsonc", "fence.json"}

// Places lists the files that t reads on its own, groups in the order of reading. Only
// the first existing file of a group counts. Claude Code merges its groups, and later
// ones win; the other tools take the first group that has a file.
func (h Host) Places(t Tool) [][]string {
	switch t {
	case Claude:
		groups := [][]string{
			{filepath.Join(h.claudeDir(), "settings.json")},
			{filepath.Join(h.Dir, ".claude", "settings.json")},
			{filepath.Join(h.Dir, ".claude", "settings.local.json")},
			{filepath.Join(managedDir(), "managed-settings.json")},
		}
		if h.List == nil {
			return groups
		}
		dropIns := filepath.Join(managedDir(), "managed-settings.d")
		for _, name := range h.List(dropIns) {
			if strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") {
				groups = append(groups, []string{filepath.Join(dropIns, name)})
			}
		}
		// In the home directory the user's file is also the project's file.
		return slices.CompactFunc(groups, slices.Equal)
	case SRT:
		return [][]string{{filepath.Join(h.Home, ".srt-settings.json")}}
	case Fence:
		var groups [][]string
		for dir := h.Dir; ; dir = filepath.Dir(dir) {
			groups = append(groups, joinNames(dir, fenceNames))
			if dir == filepath.Dir(dir) {
				break
			}
		}
		return append(groups, h.fenceBase()...)
	}
	return nil
}

// fenceBase returns the places of the user's configuration of fence.
func (h Host) fenceBase() [][]string {
	config := h.ConfigHome
	if !filepath.IsAbs(config) {
		config = filepath.Join(h.Home, ".config")
	}
	return [][]string{
		joinNames(filepath.Join(config, "fence"), fenceNames),
		joinNames(h.Home, []string{".fence.jsonc", ".fence.json"}),
	}
}

func joinNames(dir string, names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = filepath.Join(dir, n)
	}
	return out
}

func (h Host) claudeDir() string {
	if filepath.IsAbs(h.ClaudeDir) {
		return filepath.Clean(h.ClaudeDir)
	}
	return filepath.Join(h.Home, ".claude")
}

func managedDir() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/ClaudeCode"
	}
	return "/etc/claude-code"
}

// isManaged reports whether file has the name of an administrator's file for Claude Code.
func isManaged(file string) bool {
	return filepath.Base(file) == "managed-settings.json" || filepath.Base(filepath.Dir(file)) == "managed-settings.d"
}

// claudeRoot returns the base of the paths in a file of Claude Code.
func (h Host) claudeRoot(file string) string {
	if !filepath.IsAbs(file) {
		file = filepath.Join(h.Dir, file)
	}
	dir := filepath.Dir(file)
	switch {
	case dir == h.claudeDir():
		return dir
	case isManaged(file):
		return h.Dir
	case filepath.Base(dir) == ".claude":
		return filepath.Dir(dir)
	}
	return dir
}
