// Package command runs the main function of a benchmark.
package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Main calls run with a context that an interrupt or a termination signal cancels. It prints an error after name, and exits
// with status 1.
func Main(name string, run func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}
