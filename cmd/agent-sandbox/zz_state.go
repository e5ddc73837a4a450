//go:build agent

package main

import "path/filepath"

func stateDir(env []string, home string) string {
	base := lookup(env, "XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "agent-sandbox", "agent")
}
