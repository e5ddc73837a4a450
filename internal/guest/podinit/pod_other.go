//go:build !linux

package podinit

import "github.com/seed434b0696/agent-sandbox/internal/guest/process"

// Run fails: it needs Linux.
func Run(p process.Process, _ []string) int {
	return p.Fail(process.ExitRefused, "pod: only Linux has pods")
}

// Attend fails: it needs Linux.
func Attend(p process.Process, _ []string) int {
	return p.Fail(process.ExitRefused, "attend: only Linux has pods")
}

// Join fails: it needs Linux.
func Join(p process.Process, _ []string) int {
	return p.Fail(process.ExitRefused, "join: only Linux has pods")
}

// Install fails: it needs Linux.
func Install(p process.Process, _ []string) int {
	return p.Fail(process.ExitRefused, "install: only Linux has pods")
}
