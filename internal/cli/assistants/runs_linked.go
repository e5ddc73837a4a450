//go:build agent

package assistants

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent"
	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/program"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// printRuns prints what runs a valid assistant, and what is missing for it on this host.
func printRuns(ctx context.Context, a *console.App, s *assistant.Assistant) {
	h, err := host.Locate(a.Env, "")
	if err != nil {
		printDetail(a, "missing here", err.Error())
		return
	}
	missing := func(text, hint string) {
		if hint != "" {
			text += " (" + hint + ")"
		}
		printDetail(a, "missing here", text)
	}
	if s.Sandbox == nil {
		printDetail(a, "runs", "a direct call of "+s.Connector.Model)
	} else {
		printSandbox(ctx, a, h, s, missing)
	}
	if k := s.Connector.Secret; k.Env != "" && console.Lookup(a.Env, k.Env) == "" {
		missing("the variable "+k.Env+", which holds the key of "+s.Connector.ID, "")
	}
	if s.Hooks == "" {
		return
	}
	worker, err := program.Beside(hooksProgram)
	if err == nil {
		_, err = os.Stat(worker)
	}
	if err != nil {
		missing("the program "+hooksProgram+", which runs hooks", "make install")
	}
}

// printDetail prints a line below that of an assistant.
func printDetail(a *console.App, subject, text string) {
	fmt.Fprintf(a.Out, "  %s: %s\n", subject, console.Escape(text))
}

// printSandbox prints the sandbox of an assistant, and what is missing for it.
func printSandbox(ctx context.Context, a *console.App, h host.Host, s *assistant.Assistant, missing func(text, hint string)) {
	d, _, err := isolationOf(a, h, s, "")
	if err != nil {
		missing(err.Error(), sandbox.HintOf(err))
		return
	}
	runs := string(s.Sandbox.Command) + " on " + d.Name()
	image := s.Sandbox.Image
	if image == "" && d.Name() != host.Default {
		image = agent.DefaultImage(string(s.Sandbox.Command))
	}
	if image != "" {
		runs += ", in the image " + image
	}
	printDetail(a, "runs", runs)
	switch d.Name() {
	case host.Kube: // its check creates pods
		if image == "" {
			missing("an image that has "+string(s.Sandbox.Command), "name one in sandbox.image")
		}
		return
	case host.Default:
		if image != "" {
			missing("images, which bwrap does not have", "remove image, or name the backend docker")
		}
		if _, _, err := agent.FindProgram(string(s.Sandbox.Command)); err != nil {
			missing(err.Error(), sandbox.HintOf(err))
		}
	case "virtual":
		missing("programs, which a sandbox in memory does not have", "name the backend bwrap, docker or kube")
		return
	}
	report, err := d.Check(ctx)
	if err != nil {
		missing(err.Error(), sandbox.HintOf(err))
		return
	}
	for _, f := range report.Findings {
		if f.State == sandbox.Impossible && (f.Needed || strings.HasPrefix(f.Rule, "image ")) {
			missing(fmt.Sprintf("%s: %s", f.Rule, f.Detail), f.Fix)
		}
	}
}
