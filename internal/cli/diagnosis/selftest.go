package diagnosis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
)

// proof is one sentence of the contract and whether it holds on this host.
type proof struct {
	Name   string `json:"name"`
	Holds  bool   `json:"holds"`
	Error  string `json:"error,omitempty"`
	Millis int64  `json:"duration_ms"`
}

// NewSelftest returns the command selftest.
func NewSelftest(a *console.App) *cobra.Command {
	var backend, match string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "selftest [flags]",
		Short: "run the contract of all backends on this host",
		Long: `Runs the contract that every backend has to pass, with real sandboxes in temporary
directories on this host, and prints a line for each case.`,
		Example: "agent-sandbox selftest\nagent-sandbox selftest --run 'exit|signal'",
		Args:    console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSelftest(cmd.Context(), a, backend, match, asJSON)
		},
	}
	host.AddBackendFlag(cmd.Flags(), &backend)
	cmd.Flags().StringVar(&match, "run", "", "only the cases that match the regular expression `RE`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, `  0    every case holds
  1    a case failed
  125  something went wrong, or sandboxes cannot run here`)
}

// otherHostError returns the error of a backend on other machines, which cannot run the contract: its directories would have to exist there too.
func otherHostError() error {
	return sandbox.Errorf(sandbox.Unsupported, "the contract needs directories of this host, which a pod does not share").
		WithHint("'agent-sandbox doctor --backend kube --verify' tries it in pods")
}

func runSelftest(ctx context.Context, a *console.App, backend, match string, asJSON bool) error {
	if backend == "kube" {
		return otherHostError()
	}
	h, err := host.Locate(a.Env, "")
	if err != nil {
		return err
	}
	d, err := host.NewDriver(backend, h, host.DriverOptions{Shared: true})
	if err != nil {
		return err
	}
	proofs, err := runProofs(ctx, a, d, h, match, !asJSON)
	if err != nil {
		return err
	}
	if asJSON {
		err = a.PrintJSON(proofs)
	}
	if err == nil && countFailures(proofs) > 0 {
		err = console.ExitStatus(1)
	}
	return err
}

// runProofs runs the contract's cases whose names match, and prints each result.
func runProofs(ctx context.Context, a *console.App, d sandbox.Driver, h host.Host, match string, print bool) (proofs []proof, err error) {
	re, err := regexp.Compile(match)
	if err != nil {
		return nil, console.UsageError("agent-sandbox selftest", "--run: %v", err)
	}
	base, err := workBase(a.Env, h)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(base)) }()
	// A case counts temporary files before and after: those of other processes are not to be among them.
	before, isSet := os.LookupEnv("TMPDIR")
	if err := errors.Join(os.Mkdir(filepath.Join(base, "tmp"), 0o700), os.Setenv("TMPDIR", filepath.Join(base, "tmp"))); err != nil {
		return nil, err
	}
	defer func() {
		if isSet {
			err = errors.Join(err, os.Setenv("TMPDIR", before))
		} else {
			err = errors.Join(err, os.Unsetenv("TMPDIR"))
		}
	}()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	harness := sandboxtest.Local{Backend: d, Base: base, Data: []string{h.Data}}
	if err := sandboxtest.Available(ctx, d); err != nil {
		return nil, sandbox.Errorf(sandbox.Unavailable, "sandboxes cannot run here: %w", err).WithHint("see 'agent-sandbox doctor'")
	}
	proofs = []proof{}
	for _, c := range sandboxtest.Cases() {
		if !re.MatchString(c.Name) {
			continue
		}
		p := proveOne(ctx, c, harness)
		proofs = append(proofs, p)
		if print {
			printProof(a, p)
		}
		if ctx.Err() != nil {
			return proofs, sandbox.Errorf(sandbox.Canceled, "interrupted")
		}
	}
	if print {
		fmt.Fprintf(a.Out, "\n%d of %d hold\n", len(proofs)-countFailures(proofs), len(proofs))
	}
	return proofs, nil
}

// workBase creates a directory for workspaces. It is outside of /tmp, which
// sandboxes replace by their own.
func workBase(env []string, h host.Host) (string, error) {
	cache := console.Lookup(env, "XDG_CACHE_HOME")
	if !filepath.IsAbs(cache) {
		cache = filepath.Join(h.Home, ".cache")
	}
	err := os.MkdirAll(cache, 0o755)
	base := ""
	if err == nil {
		base, err = os.MkdirTemp(cache, "agent-sandbox-selftest-")
	}
	if err != nil {
		return "", sandbox.Errorf(sandbox.CodeOf(err), "cannot make a directory for the test: %w", err)
	}
	return base, nil
}

func proveOne(ctx context.Context, c sandboxtest.Case, h sandboxtest.Harness) proof {
	ctx, cancel := context.WithTimeout(ctx, sandboxtest.Limit)
	defer cancel()
	begin := time.Now()
	err := c.Run(ctx, h)
	p := proof{Name: c.Name, Holds: err == nil, Millis: int64(time.Since(begin) / time.Millisecond)}
	if err != nil {
		p.Error = console.Escape(err.Error())
	}
	return p
}

func printProof(a *console.App, p proof) {
	if p.Holds {
		fmt.Fprintf(a.Out, "✓ %s (%d ms)\n", p.Name, p.Millis)
		return
	}
	fmt.Fprintf(a.Out, "✗ %s (%d ms)\n    %s\n", p.Name, p.Millis, p.Error)
}

func countFailures(proofs []proof) int {
	n := 0
	for _, p := range proofs {
		if !p.Holds {
			n++
		}
	}
	return n
}
