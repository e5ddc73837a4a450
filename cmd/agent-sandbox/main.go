// Command agent-sandbox runs commands in isolation. Package cli has its commands.
package main

import (
	"os"

	"github.com/seed434b0696/agent-sandbox/internal/cli"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func main() {
	os.Exit(cli.Main(os.Args, os.Environ(), sandbox.Stdio{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
}
