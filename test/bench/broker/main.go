// Command broker measures what the model broker adds to a request and to the events of a stream. It sends requests to a
// server that answers at once: directly, through the broker in the server's own API, and through the broker in another
// API. Each round runs them in turn, and times are compared within a round. Everything is in one process on loopback. It
// prints Markdown.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/seed434b0696/agent-sandbox/test/bench/internal/command"
	"github.com/seed434b0696/agent-sandbox/test/bench/internal/rounds"
)

func main() {
	command.Main("broker", func(ctx context.Context) error { return run(ctx, os.Args[1:]) })
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("broker", flag.ContinueOnError)
	n := flags.Int("rounds", 50, "rounds that count, after five that warm up")
	size := flags.Int("size", 100<<10, "`BYTES` of text in a request")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *n < 1 || *size < 1 || flags.NArg() > 0 {
		return errors.New("expected flags only, at least one round and at least one byte")
	}
	s, err := newScene(*size)
	if err != nil {
		return err
	}
	for _, events := range []int{1, 1000} {
		group := rounds.Group{Title: fmt.Sprintf("A request of %d KiB and a stream of %d events", *size>>10, events), Warm: 5, Rounds: *n}
		group.All = s.contenders(events)
		if err = rounds.Table(ctx, group); err != nil {
			break
		}
	}
	return errors.Join(err, s.close())
}
