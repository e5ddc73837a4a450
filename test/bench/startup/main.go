// Command startup measures what a sandbox costs before and after the command in it.
// It runs all candidates in turn, round after round, so that other load of the
// machine falls on all of them, and compares within a round. It prints Markdown
// tables. build/scripts/bench.sh runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/seed434b0696/agent-sandbox/test/bench/internal/command"
)

// plainUser is the user ID of the second half when this program runs as root.
const plainUser = 1000

func main() {
	if len(os.Args) == 2 && os.Args[1] == nothing {
		return
	}
	command.Main("startup", run)
}

func run(ctx context.Context) error {
	command := flag.String("command", "bin/agent-sandbox", "the command to measure")
	guest := flag.String("guest", "bin/guest/sandbox-guest", "the guest to measure")
	npm := flag.String("npm", "", "node_modules `DIR` with srt; empty: without srt")
	rounds := flag.Int("rounds", 40, "rounds that count, after three that warm up")
	parts := flag.Bool("parts", false, "only the parts of a start, against minimal bubblewrap")
	before := flag.String("before", "", "another agent-sandbox, to compare the start of `FILE` with; empty: none")
	flag.Parse()
	if *rounds < 1 || flag.NArg() > 0 {
		return fmt.Errorf("expected flags only, and at least one round")
	}

	users := []int{os.Getuid()}
	if os.Getuid() == 0 {
		users = append(users, plainUser)
	}
	for _, uid := range users {
		s, err := newStage(uid, *command, *guest, *npm)
		if err != nil {
			return err
		}
		if !*parts {
			err = s.report(ctx, *rounds)
		}
		if err == nil {
			err = s.reportPhases(ctx, *rounds, *before)
		}
		if err := os.RemoveAll(s.base); err != nil {
			return err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// report measures and prints one user's table.
func (s *stage) report(ctx context.Context, rounds int) error {
	cases, err := s.cases(ctx)
	if err != nil {
		return err
	}
	if err := measure(ctx, s, cases, rounds); err != nil {
		return err
	}
	fmt.Printf("As %s, %d rounds, milliseconds:\n\n%s", s.who(), rounds, table(cases))
	fmt.Printf("\nA wrapped command costs %s ms more than one that is not.\n", ms(more(cases, wrapped, free)/repeats))
	fmt.Printf("A stage of 50,000 files adds %s ms, and %s ms when it is made.\n\n", ms(more(cases, staged, large)), ms(more(cases, fresh, large)))
	return nil
}

func (s *stage) who() string {
	if s.uid == 0 {
		return "root"
	}
	return "a plain user"
}

// table returns the Markdown table of cases.
func table(cases []*contender) string {
	var b strings.Builder
	b.WriteString("| what | median | min | max | against | ratio, median of rounds | middle 80 % of rounds |\n|---|---|---|---|---|---|---|\n")
	for _, c := range cases {
		b.WriteString(c.row(cases) + "\n")
	}
	return b.String()
}
