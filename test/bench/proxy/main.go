// Command proxy measures what an allow-list costs: a large download in a sandbox and
// without one, and the memory of many connections at once. Source, proxy and client are
// processes of their own on loopback. It runs all candidates in turn, round after round,
// so that other load of the machine falls on all of them, and compares within a
// round. It prints Markdown.
package main

import (
	"context"
	"errors"
	"flag"
	"os"

	"github.com/seed434b0696/agent-sandbox/test/bench/internal/command"
)

func main() {
	command.Main("proxy", func(ctx context.Context) error { return run(ctx, os.Args[1:]) })
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case sourceRole:
			return serveSource(ctx)
		case proxyRole:
			return serveProxy(ctx, args[1:])
		case clientRole:
			return serveClient(ctx, args[1:])
		}
	}
	flags := flag.NewFlagSet("proxy", flag.ContinueOnError)
	command := flags.String("command", "bin/agent-sandbox", "the command to measure")
	npm := flags.String("npm", "", "node_modules `DIR` with srt; empty: without srt")
	rounds := flags.Int("rounds", 10, "rounds that count, after two that warm up")
	size := flags.Int64("size", 1<<30, "`BYTES` of one download")
	conns := flags.Int("conns", 1000, "connections at once; 0: do not try")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *rounds < 1 || *size < 1 || flags.NArg() > 0 {
		return errors.New("expected flags only, at least one round and at least one byte")
	}
	s, err := newScene(ctx, *command, *npm)
	if err != nil {
		return err
	}
	err = s.downloads(ctx, *rounds, *size)
	if err == nil && *conns > 0 {
		err = s.crowd(ctx, *conns)
	}
	return errors.Join(err, s.close())
}
