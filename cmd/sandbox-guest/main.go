// Command sandbox-guest is the program that runs inside sandboxes: command
// wrappers, the start of a terminal session, and file access. See package guest.
package main

import (
	"os"

	"github.com/seed434b0696/agent-sandbox/internal/guest"
)

func main() { os.Exit(guest.Main(os.Args, os.Environ())) }
