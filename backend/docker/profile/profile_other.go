//go:build !linux

package profile

import "github.com/seed434b0696/agent-sandbox/sandbox"

// Seccomp fails: the engine's default profile is known on Linux only.
func Seccomp() (string, error) {
	return "", sandbox.Errorf(sandbox.Unsupported, "the docker backend needs Linux").WithHint("--backend virtual runs anywhere")
}
