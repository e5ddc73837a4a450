package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// way is one way to download.
type way struct {
	name   string
	args   []string // the program that runs the client, whose command line follows
	manner string   // of the client

	took []time.Duration // by round
}

func (s *scene) ways() []*way {
	ours := []string{s.command, "exec", "--allow", "tcp://" + s.source.addr, "--allow", "http://" + s.source.addr, "--"}
	list := []*way{
		{name: "without a sandbox", manner: direct},
		{name: "`agent-sandbox exec --allow`, in a tunnel (CONNECT)", args: ours, manner: tunneled},
		{name: "`agent-sandbox exec --allow`, plain HTTP", args: ours, manner: plain},
	}
	if s.srt != "" {
		args := []string{"env", "TMPDIR=" + s.dir, "node", s.srt, "-s", s.settings(), "bash", s.wait()}
		list = append(list, &way{name: "srt 0.0.78, in a tunnel", args: args, manner: tunneled},
			&way{name: "srt 0.0.78, plain HTTP", args: args, manner: plain})
	}
	return list
}

func (s *scene) downloads(ctx context.Context, rounds int, size int64) error {
	const warm = 2
	ways := s.ways()
	for round := range warm + rounds {
		for i := range ways {
			w := ways[(i+round)%len(ways)]
			took, err := s.download(ctx, w, size)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			if round >= warm {
				w.took = append(w.took, took)
			}
		}
	}
	fmt.Printf("Downloads of %d MiB over loopback, %d rounds:\n\n", size>>20, rounds)
	fmt.Println("| way | median, MiB/s | slowest | fastest | of that without, median of rounds | middle 80 % of rounds |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, w := range ways {
		fmt.Println(w.row(ways[0], size))
	}
	fmt.Println()
	return nil
}

// download runs the client once. The start of the client and its sandbox does not count.
func (s *scene) download(ctx context.Context, w *way, size int64) (time.Duration, error) {
	args := append(slices.Clone(w.args), s.self, clientRole, w.manner, s.source.addr, strconv.FormatInt(size, 10))
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = s.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, stderr.Bytes())
	}
	return time.ParseDuration(strings.TrimSpace(string(out)))
}

// row returns the way's line of the table.
func (w *way) row(direct *way, size int64) string {
	rate := func(d time.Duration) float64 { return float64(size) / (1 << 20) / d.Seconds() }
	sorted := slices.Sorted(slices.Values(w.took))
	line := fmt.Sprintf("| %s | %.0f | %.0f | %.0f |", w.name, rate(at(sorted, 0.5)), rate(sorted[len(sorted)-1]), rate(sorted[0]))
	if w == direct {
		return line + " | |"
	}
	ratios := make([]float64, len(w.took))
	for round, took := range w.took {
		ratios[round] = 100 * float64(direct.took[round]) / float64(took)
	}
	slices.Sort(ratios)
	return line + fmt.Sprintf(" %.0f %% | %.0f–%.0f %% |", at(ratios, 0.5), at(ratios, 0.1), at(ratios, 0.9))
}

// at returns the q-quantile of sorted values.
func at[T any](sorted []T, q float64) T {
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}
