// Package policies has the commands explain, trust, import and schema, which are about policies and do not start sandboxes.
package policies

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	host.Options
	json     bool
	manifest bool
}

// kinds lists what explain can be asked about.
var kinds = []string{"path", "host", "command", "env"}

// NewExplain returns the command explain.
func NewExplain(a *console.App) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain [flags] [path|host|command|env] [VALUE]",
		Short: "show what the policy allows, and which rule decides",
		Long: `Without a VALUE, prints all that the policy decides. With one, prints the verdict
on it, the rule that decides, the layer that set it, and what would change it.
Without a kind, what contains a slash, begins with a dot or exists is a path, what is a variable's
name in capitals is env, what contains a dot or colon is a host, and the rest is
a command. It takes the flags of exec and starts nothing.`,
		Example: `agent-sandbox explain
agent-sandbox explain ~/.ssh/id_ed25519
agent-sandbox explain command git
agent-sandbox explain host github.com:443
agent-sandbox explain --allow 'GET https://example.com/pub/**' --ca ephemeral https://example.com/pub/x
agent-sandbox explain env GITHUB_TOKEN
agent-sandbox explain --rw ~/src --json path ~/src/other
agent-sandbox explain --backend kube --warm-pool agents --manifest | kubectl apply -f -`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.manifest && len(args) > 0:
				return console.UsageError(cmd.CommandPath(), "--manifest takes no arguments")
			case len(args) > 2:
				return console.UsageError(cmd.CommandPath(), "expected at most a kind and a value, got %d arguments", len(args))
			case len(args) == 2 && !slices.Contains(kinds, args[0]):
				return console.UsageError(cmd.CommandPath(), "unknown kind %q, expected one of %s", args[0], strings.Join(kinds, ", "))
			case len(args) == 1 && slices.Contains(kinds, args[0]):
				return console.UsageError(cmd.CommandPath(), "which %s?", args[0])
			case len(args) > 0 && args[len(args)-1] == "":
				return console.UsageError(cmd.CommandPath(), "the value is empty")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return kinds, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.manifest {
				return printManifest(cmd.Context(), a, &f.Options)
			}
			return explainPolicy(a, &f, args)
		},
	}
	f.Register(cmd.Flags())
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
	cmd.Flags().BoolVar(&f.manifest, "manifest", false, "with --backend kube and --warm-pool: print the SandboxTemplate and the\nSandboxWarmPool whose pods are as the policy needs them, for kubectl apply")
	return console.Describe(cmd, console.ExitSimple)
}

func explainPolicy(a *console.App, f *explainFlags, args []string) error {
	h, err := host.Locate(a.Env, f.Cwd)
	if err != nil {
		return err
	}
	spec, err := host.NewSpec(a, h, &f.Options)
	if err != nil {
		return err
	}
	plan, err := policy.Resolve(spec)
	if err != nil {
		return err
	}
	backend := f.Backend
	if backend == "" {
		backend = plan.Backend
	}
	place := placeOf(backend)
	t := planTable{out: a.Out, plan: place.narrow(plan), home: plan.Home, place: place}
	if len(args) == 0 {
		if f.json {
			return a.PrintJSON(newPlanDocument(t.plan, backend, place))
		}
		t.print()
		return nil
	}
	kind, value := args[0], args[len(args)-1]
	if len(args) == 1 {
		kind = guessKind(value, plan)
	}
	e := explainOne(plan, kind, value, place)
	if f.json {
		return a.PrintJSON(e)
	}
	t.explanation(e)
	return nil
}

// poolDriver is implemented by a backend that takes its sandboxes from an administrator's pool.
type poolDriver interface {
	Template(ctx context.Context, spec sandbox.Spec) ([]byte, error)
}

// printManifest prints the manifest that an administrator applies for a pool.
func printManifest(ctx context.Context, a *console.App, o *host.Options) error {
	h, err := host.Locate(a.Env, o.Cwd)
	if err != nil {
		return err
	}
	spec, err := host.NewSpec(a, h, o)
	if err != nil {
		return err
	}
	name := o.Backend
	if name == "" {
		name = host.ConfiguredBackend(spec.Layers)
	}
	d, err := host.NewDriver(name, h, host.DriverOptions{Cluster: o.Cluster})
	if err != nil {
		return err
	}
	pools, ok := d.(poolDriver)
	if !ok {
		return sandbox.Errorf(sandbox.Unsupported, "backend %s has no warm pools", d.Name()).WithHint("--backend kube has")
	}
	text, err := pools.Template(ctx, spec)
	if err == nil {
		fmt.Fprintf(a.Out, "%s\n", text)
	}
	return err
}

// isVariableLike recognises usual names, not all possible ones.
func isVariableLike(s string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	return s != "" && strings.Contains(letters, s[:1]) && strings.Trim(s, letters+"0123456789") == ""
}

// guessKind guesses the kind of a value.
func guessKind(value string, plan *policy.Plan) string {
	switch {
	case strings.HasPrefix(value, "unix:"), strings.Contains(value, "://"):
		return "host"
	case strings.Contains(value, "/"), value == "~", strings.HasPrefix(value, "."): // no host begins with a dot
		return "path"
	}
	if _, err := os.Lstat(filepath.Join(plan.Dir, value)); err == nil {
		return "path"
	}
	switch {
	case isVariableLike(value):
		return "env"
	case strings.ContainsAny(value, ".:"):
		return "host"
	}
	return "command"
}

// place says which files a sandbox has.
type place string

const (
	onHost      place = "host"  // those of this host
	inContainer place = "image" // those of an image, the workspace and the paths that the policy names
	inPod       place = "copy"  // those of an image, and a copy of the workspace
)

// placeOf returns the place of a backend's sandboxes; "" is the usual backend.
func placeOf(backend string) place {
	switch backend {
	case host.Docker:
		return inContainer
	case host.Kube:
		return inPod
	}
	return onHost
}

// narrow returns what a plan says about the paths of the host that sandboxes have.
func (p place) narrow(plan *policy.Plan) *policy.Plan {
	switch p {
	case inContainer:
		return plan.ShowOnly(plan.Shown())
	case inPod:
		out := plan.ShowOnly([]string{plan.Workspace})
		// In the copy only hidden files have a protection: they are not copied.
		out.Guards, out.NoRepos, out.Nested = nil, nil, policy.NestedNames{}
		out.Mounts = slices.DeleteFunc(out.Mounts, func(m policy.Mount) bool { return m.Path != plan.Workspace && m.Access != policy.Exclude })
		return out
	case onHost:
	}
	return plan
}

// files describes the files of sandboxes; "" are those of this host.
func (p place) files() string {
	switch p {
	case inContainer:
		return "those of the image, the workspace, and the paths that the policy names"
	case inPod:
		return "those of the image, and a copy of the workspace without what is hidden and without secret files such as .env"
	case onHost:
	}
	return ""
}

// explainOne explains one value for a sandbox in a place.
func explainOne(plan *policy.Plan, kind, value string, in place) policy.Explanation {
	switch kind {
	case "path":
		switch in {
		case inPod:
			return plan.ExplainCopiedPath(value)
		case inContainer:
			return plan.ExplainShownPath(value)
		case onHost:
		}
		return plan.ExplainPath(value)
	case "command":
		return plan.ExplainCommand(value)
	case "env":
		return plan.ExplainEnv(value)
	}
	return plan.ExplainHost(value)
}

// explanation prints the verdict on one path, host, command or variable.
func (t *planTable) explanation(e policy.Explanation) {
	fmt.Fprintf(t.out, "%s\n", console.Escape(fmt.Sprintf("%s %s: %s", e.Kind, t.short(e.Name), e.Verdict)))
	var rows [][]string
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{name, value})
		}
	}
	rule := e.Rule
	if e.Preset != "" {
		rule += " of " + e.Preset
	}
	add("meaning", e.Reason)
	add("rule", rule)
	add("layer", e.Layer)
	add("source", t.short(e.Source))
	for i, l := range e.Losing {
		name := ""
		if i == 0 {
			name = "instead of"
		}
		rows = append(rows, []string{name, fmt.Sprintf("%s %s (%s)", l.Access, l.Rule, strings.TrimPrefix(l.Preset+", "+t.short(l.Source), ", "))})
	}
	add("to change", e.Change)
	t.table(rows)
}
