package repository

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/images"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// buildFlags are the flags of the commands that build images.
type buildFlags struct {
	args    []string // NAME=VALUE
	ca      string   // a file of certificates; empty: npm's setting
	verbose bool
	json    bool
}

func (f *buildFlags) register(fs *pflag.FlagSet) {
	console.AddListFlag(fs, "build-arg", "give the build the argument `NAME=VALUE`; may be repeated", &f.args)
	fs.BoolVar(&f.verbose, "verbose", false, "show all output of the build, not only its steps")
	fs.BoolVar(&f.json, "json", false, "print one JSON document")
}

// arguments parses the values of --build-arg.
func (f *buildFlags) arguments() (map[string]string, error) {
	out := map[string]string{}
	for _, arg := range f.args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, sandbox.Errorf(sandbox.Invalid, "--build-arg takes NAME=VALUE, got %q", arg)
		}
		out[name] = value
	}
	return out, nil
}

// NewBuildBase returns the command build-base.
func NewBuildBase(a *console.App) *cobra.Command {
	var f buildFlags
	var o images.Options
	cmd := &cobra.Command{
		Use:   "build-base [flags]",
		Short: "build the base image of sandboxes over Docker",
		Long: `It is agent-sandbox-base: Debian with git, editors and the usual tools, Node.js,
Claude Code, Codex and ast-grep. A VERSION is what npm understands; "latest" is
resolved first, so that nothing is built anew when nothing is newer. With --image
also one of those on top of it: claude has Python and more tools, claude-full has
Go, too. The npm registry is that of NPM_CONFIG_REGISTRY or ~/.npmrc.`,
		Example: `agent-sandbox build-base
agent-sandbox build-base --tag 2026-11 --claude-code-version latest --codex-version 0.169.0
agent-sandbox build-base --image claude-full --base debian:bookworm-slim`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return buildBase(cmd.Context(), a, &f, o) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.Tag, "tag", images.DefaultTag, "the image's `TAG`")
	fs.StringVar(&o.Tools.ClaudeCode, "claude-code-version", "", "`VERSION` of Claude Code")
	fs.StringVar(&o.Tools.Codex, "codex-version", "", "`VERSION` of Codex")
	fs.StringVar(&o.Tools.GitDelta, "git-delta-version", "", "`VERSION` of Debian's git-delta, or none")
	fs.StringVar(&o.Tools.AstGrep, "ast-grep-version", "", "`VERSION` of ast-grep")
	fs.StringVar(&o.Image, "image", images.Base, "build `NAME`: base, claude or claude-full")
	fs.StringVar(&o.From, "base", "", "build on `IMAGE` instead of debian:bookworm-slim")
	fs.StringVar(&f.ca, "ca", "", "trust the certificates in the PEM `FILE`, too; without it those\nthat npm trusts (cafile, NODE_EXTRA_CA_CERTS)")
	f.register(fs)
	return needsEngine(console.Describe(cmd, console.ExitSimple))
}

func buildBase(ctx context.Context, a *console.App, f *buildFlags, o images.Options) error {
	relay, ctx := console.StartRelay(ctx, false, a.Err.Say)
	defer relay.Stop()
	var err error
	if o.Args, err = f.arguments(); err != nil {
		return err
	}
	if err = npmSettings(a, &o, f.ca); err != nil {
		return err
	}
	e, err := openEngine(ctx, a)
	if err != nil {
		return err
	}
	defer e.Close()
	o.Progress = buildProgress(a, f.verbose)
	built, err := images.Build(ctx, e, o)
	if err != nil {
		return err
	}
	if f.json {
		return a.PrintJSON(built)
	}
	for _, b := range built {
		fmt.Fprintln(a.Out, b.Reference)
	}
	return nil
}

// buildProgress shows what a build says on stderr: its steps, or all of it.
func buildProgress(a *console.App, all bool) func(string) {
	return func(line string) {
		if all {
			a.Err.Line(line)
			return
		}
		if step, ok := strings.CutPrefix(line, "Step "); ok {
			const width = 100
			step = strings.Join(strings.Fields(step), " ")
			if len(step) > width {
				step = strings.ToValidUTF8(step[:width], "") + "…"
			}
			a.Err.Line(step)
		}
	}
}

// npmSettings returns the registry and the certificates of the user's npm configuration. A registry with a login is rejected:
// build arguments are written into the image's history.
func npmSettings(a *console.App, o *images.Options, ca string) error {
	home, err := host.HomeDir(a.Env)
	if err != nil {
		return err
	}
	text, _ := policy.ReadConfig(filepath.Join(home, ".npmrc")) // most users have none
	npmrc := string(text)
	for _, file := range []string{images.Setting(a.Env, npmrc, "cafile"), console.Lookup(a.Env, "NODE_EXTRA_CA_CERTS")} {
		if ca == "" {
			ca = file
		}
	}
	if ca != "" {
		if o.CA, err = policy.ReadConfig(ca); err != nil {
			return err
		}
	}
	o.Registry = images.Setting(a.Env, npmrc, "registry")
	if o.Registry == "" {
		return nil
	}
	u, err := url.Parse(o.Registry)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return sandbox.Errorf(sandbox.Invalid, "the npm registry is not a URL").
			WithHint("look at NPM_CONFIG_REGISTRY and ~/.npmrc")
	}
	if u.User != nil {
		return sandbox.Errorf(sandbox.Unsupported, "the URL of the npm registry %s has a login, which the image would keep", u.Host).
			WithHint("set NPM_CONFIG_REGISTRY to one without")
	}
	return nil
}
