// Command hello runs a command inside a sandbox: hello [DIR]
//
// The command can write to DIR (default: here), read most of the rest, and reach
// no network.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func main() {
	ctx := context.Background()
	dir, err := filepath.Abs(append(os.Args[1:], ".")[0])
	if err != nil {
		log.Fatal(err)
	}
	box, err := sandbox.Create(ctx, bwrap.New(bwrap.Options{}), sandbox.Spec{Workspace: dir, Env: os.Environ()})
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close(ctx)

	result, err := box.Run(ctx, sandbox.Cmd{Args: []string{"sh", "-c", "pwd; ls ~/.ssh | wc -l; touch /etc/hello"}})
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Printf("%sexit status %d: %s", result.Stdout, result.Code, result.Stderr)
}
