//go:build !linux

package docker

import "github.com/seed434b0696/agent-sandbox/sandbox"

// seccompProfile fails: the engine's default profile is known on Linux only.
func seccompProfile() (string, error) {
	return "", sandbox.Errorf(sandbox.Unsupported, "the docker backend needs Linux").WithHint("--backend virtual runs anywhere")
}
