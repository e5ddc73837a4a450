package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"
)

// way is one way to download.
type way struct {
	name   string
	open   func(ctx context.Context) (net.Conn, error)
	target string // what the request line begins with

	took []time.Duration // by round
}

func (s *scene) ways() []*way {
	direct := func(ctx context.Context) (net.Conn, error) { return dial(ctx, s.source.addr) }
	through := func(ctx context.Context) (net.Conn, error) { return dial(ctx, s.proxy.addr) }
	return []*way{
		{name: "without a proxy", open: direct},
		{name: "in a tunnel (CONNECT)", open: s.tunnel},
		{name: "plain HTTP through the proxy", open: through, target: "http://" + s.source.addr},
	}
}

func dial(ctx context.Context, addr string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
}

// tunnel asks the proxy for a connection to the source.
func (s *scene) tunnel(ctx context.Context) (net.Conn, error) {
	c, err := dial(ctx, s.proxy.addr)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", s.source.addr); err != nil {
		return nil, err
	}
	// The source says nothing before it is asked, so nothing of its is read ahead.
	res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the proxy answered %s", res.Status)
	}
	return c, nil
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
	fmt.Println("| way | median, MiB/s | slowest | fastest | of the direct one, median of rounds | middle 80 % of rounds |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, w := range ways {
		fmt.Println(w.row(ways[0], size))
	}
	fmt.Println()
	return nil
}

// download reads one response to its end, and throws it away.
func (s *scene) download(ctx context.Context, w *way, size int64) (time.Duration, error) {
	begin := time.Now()
	c, err := w.open(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if _, err := fmt.Fprintf(c, "GET %s/%d HTTP/1.1\r\nHost: %s\r\n\r\n", w.target, size, s.source.addr); err != nil {
		return 0, err
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, res.Body, make([]byte, 256<<10))
	if err != nil || n != size || res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s with %d bytes: %w", res.Status, n, err)
	}
	return time.Since(begin), nil
}

// row is the way's line of the table.
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
