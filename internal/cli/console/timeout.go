package console

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Timeout limits the time of an operation; zero: no limit.
type Timeout time.Duration

// Register adds the flag --timeout.
func (t *Timeout) Register(fs *pflag.FlagSet) {
	AddFlag(fs, "timeout", "", "give up after `TIME`, such as 90s (default: no limit)", func(s string) error {
		d, err := sandbox.ParseDuration(s)
		*t = Timeout(d)
		return err
	})
}

// Run calls do with a context that ends when the time has passed. Error of code Timeout: it has, and do returned an error.
func (t Timeout) Run(ctx context.Context, do func(ctx context.Context) error) error {
	if t <= 0 {
		return do(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(t))
	defer cancel()
	err := do(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return sandbox.Errorf(sandbox.Timeout, "it took longer than %s, the limit of --timeout: %w", time.Duration(t), err)
	}
	return err
}
