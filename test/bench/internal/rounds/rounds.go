// Package rounds measures contenders in turn, round after round, and prints the time of each and its ratio to another within
// one round.
package rounds

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Contender is an operation to measure.
type Contender struct {
	Name    string
	Against string // the name of the contender to compare with; "": none
	Do      func(ctx context.Context) error
	Undo    func(ctx context.Context) error // called after each run, unmeasured; nil: nothing
	InRow   int                             // the number of runs in a round, whose mean counts; 0: one

	took []time.Duration // by round
}

// Group is a group of contenders that are measured in turn.
type Group struct {
	Title        string
	All          []*Contender
	Warm, Rounds int // rounds that do not count, and rounds that do
}

// Table measures a group, and prints it as Markdown.
func Table(ctx context.Context, g Group) error {
	if err := measure(ctx, g.All, g.Warm, g.Rounds); err != nil {
		return err
	}
	fmt.Printf("%s, %d rounds in turn, milliseconds:\n\n", g.Title, g.Rounds)
	fmt.Println("| what | median | min | max | against | ratio, median of rounds | middle 80 % of rounds |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, c := range g.All {
		fmt.Println(c.row(g.All))
	}
	fmt.Println()
	return nil
}

// measure runs every contender once a round, each round beginning with another one.
func measure(ctx context.Context, all []*Contender, warm, rounds int) error {
	for round := range warm + rounds {
		for i := range all {
			c := all[(i+round)%len(all)]
			begin := time.Now()
			err := c.Do(ctx)
			for n := 1; n < c.InRow && err == nil; n++ {
				err = c.Do(ctx)
			}
			took := time.Since(begin) / time.Duration(max(c.InRow, 1))
			if err == nil && c.Undo != nil {
				err = c.Undo(ctx)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			if round >= warm {
				c.took = append(c.took, took)
			}
		}
	}
	return nil
}

// row returns the contender's line of the table.
func (c *Contender) row(all []*Contender) string {
	sorted := slices.Sorted(slices.Values(c.took))
	line := fmt.Sprintf("| %s | %s | %s | %s |", c.Name, ms(At(sorted, 0.5)), ms(sorted[0]), ms(sorted[len(sorted)-1]))
	i := slices.IndexFunc(all, func(o *Contender) bool { return o.Name == c.Against })
	if i < 0 {
		return line + " | | |"
	}
	ratios := make([]float64, len(c.took))
	for round, took := range c.took {
		ratios[round] = float64(took) / float64(all[i].took[round])
	}
	slices.Sort(ratios)
	return line + fmt.Sprintf(" %s | %.3f | %.3f–%.3f |", c.Against, At(ratios, 0.5), At(ratios, 0.1), At(ratios, 0.9))
}

// At returns the q-quantile of sorted values.
func At[T any](sorted []T, q float64) T {
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond)) }
