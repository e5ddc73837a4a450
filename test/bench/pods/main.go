// Command pods measures commands, file transfers and the creation of pods with the kube backend against kubectl, in its
// own namespace on the cluster of KUBECONFIG, in turn, round after round. It prints Markdown tables.
// build/scripts/bench.sh runs it.
package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/seed434b0696/agent-sandbox/test/bench/internal/command"
	"github.com/seed434b0696/agent-sandbox/test/bench/internal/rounds"
)

func main() {
	command.Main("pods", run)
}

func run(ctx context.Context) error {
	command := flag.String("command", "bin/agent-sandbox", "the command to measure; agent-sandbox-kube must be in the same directory")
	image := flag.String("image", "debian:bookworm-slim", "image of the pods; the node must have it")
	n := flag.Int("rounds", 40, "rounds of commands that count; of pods it is half of them, of files a quarter")
	crowd := flag.Int("crowd", 50, "pods at once")
	size := flag.Int("size", 100, "MiB of the transferred file")
	many := flag.Int("files", 10000, "files of the transferred tree; 0: none")
	only := flag.String("only", "", "only this one of commands, pods, files, sizes and crowd; empty: all")
	flag.Parse()
	if *n < 4 || flag.NArg() > 0 {
		return fmt.Errorf("expected flags only, and at least four rounds")
	}
	s, err := newScene(ctx, *command, *image)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.open(ctx, *size, *many); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		do   func() error
	}{
		{"commands", func() error {
			return rounds.Table(ctx, rounds.Group{Title: "Commands in pods that run", All: s.commands(), Warm: 3, Rounds: *n})
		}},
		{"pods", func() error {
			return rounds.Table(ctx, rounds.Group{Title: "Pods", All: s.creations(), Warm: 1, Rounds: *n / 2})
		}},
		{"files", func() error {
			return rounds.Table(ctx, rounds.Group{Title: "Files, to pods that run and from them", All: s.files(*size, *many), Warm: 1, Rounds: *n / 4})
		}},
		{"sizes", func() error { return s.sizes(ctx) }},
		{"crowd", func() error { return s.crowd(ctx, *crowd) }},
	} {
		if *only != "" && *only != part.name {
			continue
		}
		if err := part.do(); err != nil {
			return err
		}
	}
	return nil
}
