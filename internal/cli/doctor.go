package cli

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// diagnosis is the document that doctor --json prints.
type diagnosis struct {
	sandbox.Report
	OK     bool    `json:"ok"`              // commands can run here
	Proofs []proof `json:"proofs,omitzero"` // of --verify
}

func newDoctor(a *app) *cobra.Command {
	var backend string
	var verify, asJSON bool
	var cluster clusterFlags
	cmd := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "tell what this host lets a sandbox enforce",
		Long: `Each line is a rule: enforced (✓), emulated (~), or impossible (✗) with the layer
that forbids it and one line that would change that. Nothing is changed.`,
		Example: "agent-sandbox doctor\nagent-sandbox doctor --verify\nagent-sandbox doctor --json | jq .ok",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.doctor(cmd.Context(), backend, cluster, verify, asJSON)
		},
	}
	addBackend(cmd.Flags(), &backend)
	addCluster(cmd.Flags(), &cluster)
	cmd.Flags().BoolVar(&verify, "verify", false, "also prove it in real sandboxes, as selftest does; with\nkube, try what only pods tell")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return describe(cmd, `  0    sandboxes can run here, and with --verify every proof holds
  1    they cannot, or a proof failed
  125  something went wrong`)
}

func (a *app) doctor(ctx context.Context, backend string, cluster clusterFlags, verify, asJSON bool) error {
	h, err := locate(a.env, "")
	if err != nil {
		return err
	}
	d, err := newDriver(backend, h, hooks{shared: true, cluster: cluster})
	if err != nil {
		return err
	}
	check := d.Check
	prober, probes := d.(sandbox.Prober) // which cannot work in directories of this host, as the contract does
	if verify && probes {
		check = prober.Probe
	}
	report, err := check(ctx)
	if err != nil {
		return err
	}
	diag := diagnosis{Report: report, OK: report.OK()}
	if !asJSON {
		a.printReport(report)
	}
	if verify && diag.OK && !probes {
		diag.Proofs, err = a.prove(ctx, d, h, "", !asJSON)
		if err != nil {
			return err
		}
		diag.OK = failures(diag.Proofs) == 0
	}
	if asJSON {
		err = a.printJSON(diag)
	}
	if err == nil && !diag.OK {
		err = exitStatus(1)
	}
	return err
}

var marks = map[sandbox.State]string{sandbox.Enforced: "✓", sandbox.Emulated: "~", sandbox.Impossible: "✗"}

func (a *app) printReport(r sandbox.Report) {
	fmt.Fprintf(a.out, "%s\n", strings.TrimSpace(printable(r.Backend+" "+r.Version)))
	width := 0
	for _, f := range r.Findings {
		width = max(width, utf8.RuneCountInString(f.Rule))
	}
	for _, f := range r.Findings {
		line := fmt.Sprintf("%s %-*s  %s", marks[f.State], width, f.Rule, f.State)
		if f.Detail != "" {
			line += ": " + f.Detail
		}
		fmt.Fprintln(a.out, printable(line))
		if f.Fix != "" && f.State != sandbox.Enforced {
			fmt.Fprintf(a.out, "  %-*s  fix: %s\n", width, "", printable(f.Fix))
		}
	}
	if r.OK() {
		fmt.Fprintln(a.out, "\nsandboxes can run here")
		return
	}
	fmt.Fprintln(a.out, "\nsandboxes cannot run here")
}
