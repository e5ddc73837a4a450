//go:build !linux

package podstore

import "github.com/seed434b0696/agent-sandbox/internal/guest/process"

// Serve fails: it needs Linux.
func Serve(p process.Process, _ []string) int {
	return p.Fail(process.ExitRefused, "store: only Linux has pods")
}
