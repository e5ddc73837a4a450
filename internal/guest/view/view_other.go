//go:build !linux

// Package view mounts a staged view over a workspace, on Linux.
package view

import "github.com/seed434b0696/agent-sandbox/internal/guest/process"

// Run fails: only Linux has overlays.
func Run(_, env []string) int {
	return process.Process{Env: env}.Fail(125, "stage: only Linux has overlays")
}
