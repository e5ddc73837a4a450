// Command persistent measures commands and file transfers in a running sandbox, and the creation of one, against the
// engine's own commands, in turn, round after round. It prints Markdown tables. build/scripts/bench.sh runs it.
package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/seed434b0696/agent-sandbox/test/bench/internal/command"
	"github.com/seed434b0696/agent-sandbox/test/bench/internal/rounds"
)

func main() {
	command.Main("persistent", run)
}

func run(ctx context.Context) error {
	command := flag.String("command", "bin/agent-sandbox", "the command to measure")
	image := flag.String("image", "debian:bookworm-slim", "image of the containers; the engine must have it")
	n := flag.Int("rounds", 40, "rounds that count, after three that warm up")
	crowd := flag.Int("crowd", 200, "bwrap sandboxes at once; 0: none")
	size := flag.Int("size", 64, "MiB of the transferred file")
	flag.Parse()
	if *n < 1 || flag.NArg() > 0 {
		return fmt.Errorf("expected flags only, and at least one round")
	}
	s, err := newScene(*command, *image, *size)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.open(ctx); err != nil {
		return err
	}
	// A separate table, because the system still writes files to the disk while the next command runs.
	for _, group := range []rounds.Group{
		{Title: "Commands in sandboxes that run", All: s.commands()},
		{Title: "Sandboxes", All: s.creations()},
		{Title: "Files, to sandboxes that run and from them", All: s.files()},
	} {
		group.Warm, group.Rounds = 3, *n
		if err := rounds.Table(ctx, group); err != nil {
			return err
		}
	}
	if *crowd == 0 {
		return nil
	}
	return s.crowd(ctx, *crowd)
}
