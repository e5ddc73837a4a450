// Command build builds all programs that tests use into a directory: go run ./test/programs/build DIR.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed434b0696/agent-sandbox/test/programs"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./test/programs/build DIR")
		os.Exit(2)
	}
	if err := errors.Join(os.Unsetenv(programs.Variable), programs.Install(context.Background(), os.Args[1], programs.All()...)); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}
