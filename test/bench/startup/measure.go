package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// contender is a program to measure.
type contender struct {
	name    string
	args    []string
	against string // the name of the contender to compare with; "": none
	exit    int    // the expected exit status
	// prepare returns the files to open anew for each start; nil: none.
	prepare func(cmd *exec.Cmd) (close func() error, err error)

	took     []time.Duration // by round
	cpu      []time.Duration // by round, with all processes that were waited for
	switches []int64         // context switches, by round
}

// measure runs every contender once a round, each round beginning with another one.
func measure(ctx context.Context, s *stage, cases []*contender, rounds int) error {
	const warm = 3
	for round := range warm + rounds {
		for i := range cases {
			c := cases[(i+round)%len(cases)]
			took, err := c.once(ctx, s)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if round == warm {
				c.took, c.cpu, c.switches = nil, nil, nil
			}
			c.took = append(c.took, took)
		}
	}
	return nil
}

func (c *contender) once(ctx context.Context, s *stage) (took time.Duration, err error) {
	// Nothing takes longer than this unless it hangs.
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := s.prepare(ctx, c.args)
	if c.prepare != nil {
		done, failed := c.prepare(cmd)
		if failed != nil {
			return 0, failed
		}
		defer func() { err = errors.Join(err, done()) }()
	}
	// A file, not a pipe: no process copies while the time is measured.
	talk, err := os.CreateTemp(s.base, "stderr-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, talk.Close(), os.Remove(talk.Name())) }()
	cmd.Stderr = talk
	begin := time.Now()
	err = cmd.Run()
	took = time.Since(begin)
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != c.exit {
		said, readErr := os.ReadFile(talk.Name())
		return 0, fmt.Errorf("expected exit status %d: %w: %s", c.exit, errors.Join(err, readErr), said)
	}
	c.work(cmd)
	return took, nil
}

// row returns the contender's line of the table.
func (c *contender) row(all []*contender) string {
	sorted := slices.Sorted(slices.Values(c.took))
	line := fmt.Sprintf("| %s | %s | %s | %s |", c.name, ms(at(sorted, 0.5)), ms(sorted[0]), ms(sorted[len(sorted)-1]))
	other := find(all, c.against)
	if other == nil {
		return line + " | | |"
	}
	ratios := make([]float64, len(c.took))
	for round, took := range c.took {
		ratios[round] = float64(took) / float64(other.took[round])
	}
	slices.Sort(ratios)
	return line + fmt.Sprintf(" %s | %.2f | %.2f–%.2f |", c.against, at(ratios, 0.5), at(ratios, 0.1), at(ratios, 0.9))
}

// find returns the case with that name, or nil.
func find(all []*contender, name string) *contender {
	i := slices.IndexFunc(all, func(o *contender) bool { return o.name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// at returns the q-quantile of sorted values.
func at[T any](sorted []T, q float64) T {
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond)) }
