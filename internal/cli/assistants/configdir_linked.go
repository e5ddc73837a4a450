//go:build agent

package assistants

import (
	"os"
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// configDir follows the XDG base directory specification, by which a relative path is ignored.
func configDir(env []string, home string) string {
	if dir := console.Lookup(env, "XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(home, ".config")
}

func isSameDir(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
