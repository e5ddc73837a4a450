// Command agents measures the overhead of the pipeline of assistants. It sends a request to a model that answers at once,
// directly and through an assistant, and it runs an agent that does nothing, alone in bubblewrap and as an assistant's. Each
// round runs them in turn, and times are compared within a round. With -claude it also measures Claude Code. Everything
// except the agents is in one process on loopback. It prints Markdown.
package main

import (
	"context"
	"errors"
	"flag"
	"os"

	"github.com/seed434b0696/agent-sandbox/test/bench/internal/command"
	"github.com/seed434b0696/agent-sandbox/test/bench/internal/rounds"
)

func main() {
	command.Main("agents", func(ctx context.Context) error { return run(ctx, os.Args[1:]) })
}

func run(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("agents", flag.ContinueOnError)
	n := flags.Int("rounds", 50, "rounds that count, after five that warm up")
	claude := flags.String("claude", "", "`PATH` of Claude Code, which is measured, too")
	hooks := flags.String("hooks", "bin/agent-sandbox-hooks", "`PATH` of the program that runs hooks")
	crowd := flags.Int("crowd", 100, "chats at once")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *n < 1 || *crowd < 1 || flags.NArg() > 0 {
		return errors.New("expected flags only, at least one round and at least one chat")
	}
	s, err := newScene(ctx, *claude, *hooks)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	groups := []rounds.Group{
		{Title: "A request to a model that answers at once", All: s.direct(), Warm: 5, Rounds: *n},
		{Title: "An agent that does nothing", All: s.sandboxed("idle"), Warm: 2, Rounds: *n},
	}
	if *claude != "" {
		groups = append(groups, rounds.Group{Title: "Claude Code, answered at once", All: s.sandboxed("claude"), Warm: 1, Rounds: *n})
	}
	for _, g := range groups {
		if err := rounds.Table(ctx, g); err != nil {
			return err
		}
	}
	return s.crowd(ctx, *crowd)
}
