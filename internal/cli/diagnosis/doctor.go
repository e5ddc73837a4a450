// Package diagnosis has the commands doctor, selftest and check, which report what this host lets a sandbox enforce.
package diagnosis

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// diagnosis is the document that doctor --json prints.
type diagnosis struct {
	sandbox.Report
	OK     bool    `json:"ok"`              // commands can run here
	Proofs []proof `json:"proofs,omitzero"` // of --verify
}

// NewDoctor returns the command doctor.
func NewDoctor(a *console.App) *cobra.Command {
	var backend string
	var verify, asJSON bool
	var cluster host.Cluster
	cmd := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "show what this host can enforce",
		Long: `Each line is a rule: enforced (✓), emulated (~), or impossible (✗) with the layer
that forbids it and one line that would change that. Nothing is changed.`,
		Example: "agent-sandbox doctor\nagent-sandbox doctor --verify\nagent-sandbox doctor --json | jq .ok",
		Args:    console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDoctor(cmd.Context(), a, backend, cluster, verify, asJSON)
		},
	}
	host.AddBackendFlag(cmd.Flags(), &backend)
	host.AddClusterFlags(cmd.Flags(), &cluster)
	cmd.Flags().BoolVar(&verify, "verify", false, "also prove it in real sandboxes, as selftest does; with\nkube, try in pods what the API does not report")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, `  0    sandboxes can run here, and with --verify every proof holds
  1    they cannot, or a proof failed
  125  something went wrong`)
}

func runDoctor(ctx context.Context, a *console.App, backend string, cluster host.Cluster, verify, asJSON bool) error {
	h, err := host.Locate(a.Env, "")
	if err != nil {
		return err
	}
	d, err := host.NewDriver(backend, h, host.DriverOptions{Shared: true, Cluster: cluster})
	if err != nil {
		return err
	}
	check := d.Check
	prober, probes := d.(sandbox.Prober) // a prober cannot use directories of this host, which the contract needs
	if verify && probes {
		check = prober.Probe
	}
	report, err := check(ctx)
	if err != nil {
		return err
	}
	diag := diagnosis{Report: report, OK: report.OK()}
	if !asJSON {
		printReport(a, report)
	}
	if verify && diag.OK && !probes {
		diag.Proofs, err = runProofs(ctx, a, d, h, "", !asJSON)
		if err != nil {
			return err
		}
		diag.OK = countFailures(diag.Proofs) == 0
	}
	if asJSON {
		err = a.PrintJSON(diag)
	}
	if err == nil && !diag.OK {
		err = console.ExitStatus(1)
	}
	return err
}

var marks = map[sandbox.State]string{sandbox.Enforced: "✓", sandbox.Emulated: "~", sandbox.Impossible: "✗"}

func printReport(a *console.App, r sandbox.Report) {
	fmt.Fprintf(a.Out, "%s\n", strings.TrimSpace(console.Escape(r.Backend+" "+r.Version)))
	width := 0
	for _, f := range r.Findings {
		width = max(width, utf8.RuneCountInString(f.Rule))
	}
	for _, f := range r.Findings {
		line := fmt.Sprintf("%s %-*s  %s", marks[f.State], width, f.Rule, f.State)
		if f.Detail != "" {
			line += ": " + f.Detail
		}
		fmt.Fprintln(a.Out, console.Escape(line))
		if f.Fix != "" && f.State != sandbox.Enforced {
			fmt.Fprintf(a.Out, "  %-*s  fix: %s\n", width, "", console.Escape(f.Fix))
		}
	}
	if r.OK() {
		fmt.Fprintln(a.Out, "\nsandboxes can run here")
		return
	}
	fmt.Fprintln(a.Out, "\nsandboxes cannot run here")
}
