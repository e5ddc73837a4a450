//go:build !linux

package confine

import "github.com/seed434b0696/agent-sandbox/internal/guest/process"

// Command is the operation of the guest that confines a command, on Linux.
const Command = "confine"

// Run reports that the operation does not exist here.
func Run(p process.Process, _ []string) int { return p.Usage() }
