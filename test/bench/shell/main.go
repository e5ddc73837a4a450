// Command shell measures scripts in memory against real bash with the real programs, and prints a Markdown
// table. Each round runs every candidate in turn, so that other load of the machine falls on all of them, and
// compares within a round. build/scripts/bench.sh runs it.
//
// Our shell runs in this process, with the data already in its tree; bash runs with its programs already in
// the page cache. Their output must be equal.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/test/bench/internal/command"
)

//go:embed cases.json
var casesJSON []byte

// benchCase is one script to measure.
type benchCase struct {
	Name   string `json:"name"`
	Repeat int    `json:"repeat"` // how often the script runs within one measurement
	Script string `json:"script"`
}

// text returns the script with its repetitions.
func (c benchCase) text() string {
	if c.Repeat <= 1 {
		return c.Script
	}
	return fmt.Sprintf("__i=0; while [ $__i -lt %d ]; do { %s; } > /dev/null; __i=$((__i+1)); done; %s", c.Repeat, c.Script, c.Script)
}

// candidate runs a script in the data directory and returns its output and its time.
type candidate interface {
	name() string
	run(ctx context.Context, script string) (out string, took time.Duration, err error)
	close() error
}

func main() {
	command.Main("shell", run)
}

func run(ctx context.Context) (err error) {
	rounds := flag.Int("rounds", 5, "rounds that count, after one that warms up")
	only := flag.String("only", "", "the cases to run, separated by commas; empty: all")
	npm := flag.String("npm", "", "node_modules `DIR` with just-bash; empty: without it")
	flag.Parse()
	if *rounds < 1 || flag.NArg() > 0 {
		return errors.New("expected flags only, and at least one round")
	}
	var cases []benchCase
	if err := json.Unmarshal(casesJSON, &cases); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "agent-sandbox-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := generate(dir); err != nil {
		return err
	}
	candidates := []candidate{&bash{dir: dir}}
	ours, err := newOurs(dir)
	if err != nil {
		return err
	}
	candidates = append(candidates, ours)
	if *npm != "" {
		js, err := newJustBash(ctx, *npm, dir)
		if err != nil {
			return err
		}
		candidates = append(candidates, js)
	}
	defer func() {
		for _, c := range candidates {
			err = errors.Join(err, c.close())
		}
	}()
	return table(ctx, cases, candidates, *rounds, strings.Split(*only, ","))
}

// table measures each case and prints its line.
func table(ctx context.Context, cases []benchCase, candidates []candidate, rounds int, only []string) error {
	fmt.Print("| script | bash, ms |")
	for _, c := range candidates[1:] {
		fmt.Printf(" %s, × bash |", c.name())
	}
	fmt.Print("\n|---|---|" + strings.Repeat("---|", len(candidates)-1) + "\n")
	worst, wrong := 0.0, 0
	for _, c := range cases {
		if only[0] != "" && !slices.Contains(only, c.Name) {
			continue
		}
		ms, ratios, err := measure(ctx, c, candidates, rounds)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.3g |", c.Name, ms/float64(max(c.Repeat, 1)))
		for i, r := range ratios {
			switch r {
			case nil:
				fmt.Print(" other output |")
				if i == 0 {
					wrong++
				}
			default:
				fmt.Printf(" %s (%s to %s) |", figure(median(r)), figure(r[0]), figure(r[len(r)-1]))
				if i == 0 {
					worst = math.Max(worst, median(r))
				}
			}
		}
		fmt.Println()
	}
	fmt.Printf("\nOurs: the slowest is %s × bash; %d with other output.\n\n", figure(worst), wrong)
	return nil
}

// measure returns bash's median in milliseconds, and for each other candidate its sorted ratios to bash within
// the rounds; nil for one that printed something else.
func measure(ctx context.Context, c benchCase, candidates []candidate, rounds int) (float64, [][]float64, error) {
	var base []float64
	ratios := make([][]float64, len(candidates)-1)
	other := make([]bool, len(candidates)-1)
	for round := range rounds + 1 {
		var want string
		var unit time.Duration
		for i, who := range candidates {
			if i > 0 && other[i-1] {
				continue
			}
			limit, cancel := context.WithTimeout(ctx, 2*time.Minute)
			out, took, err := who.run(limit, c.text())
			cancel()
			switch {
			case ctx.Err() != nil:
				return 0, nil, ctx.Err()
			case i == 0 && err != nil:
				return 0, nil, fmt.Errorf("bash: %s: %w", c.Name, err)
			case i == 0:
				want, unit = out, took
				if round > 0 {
					base = append(base, float64(took.Microseconds())/1000)
				}
			case err != nil || strings.TrimSpace(out) != strings.TrimSpace(want):
				fmt.Fprintf(os.Stderr, "%s: %s printed %.200q, bash %.200q (%v)\n", c.Name, who.name(), out, want, err)
				other[i-1] = true
			case round > 0:
				ratios[i-1] = append(ratios[i-1], float64(took)/float64(unit))
			}
		}
	}
	for i := range ratios {
		slices.Sort(ratios[i])
		if other[i] {
			ratios[i] = nil
		}
	}
	slices.Sort(base)
	return median(base), ratios, nil
}

func median(sorted []float64) float64 { return sorted[len(sorted)/2] }

// figure formats a number with two significant digits.
func figure(r float64) string {
	switch {
	case r < 0.01:
		return fmt.Sprintf("%.4f", r)
	case r < 1:
		return fmt.Sprintf("%.3f", r)
	case r < 10:
		return fmt.Sprintf("%.2f", r)
	}
	return fmt.Sprintf("%.0f", r)
}
