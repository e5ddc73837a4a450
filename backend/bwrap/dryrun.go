//go:build linux

package bwrap

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// DryRun returns the command that Start would execute, quoted for bash, with the data of its
// descriptors. It lacks the guard and the agents, which need a running agent-sandbox, and limits that need a
// control group.
func (i *instance) DryRun(cmd sandbox.Cmd) (string, error) {
	if i.spec.Stage != "" {
		return "", sandbox.Errorf(sandbox.Unsupported, "a command line cannot show a stage")
	}
	plan := i.Plan().WithoutAgents() // they need a running agent-sandbox, too
	if err := checkCmd(plan, cmd, nil); err != nil {
		return "", err
	}
	env := i.environment(plan, cmd, nil)
	if err := i.checkProgram(plan, cmd, env, nil); err != nil {
		return "", err
	}
	deny, err := seccomp.Deny(runtime.GOARCH, denyOptions(plan))
	if err != nil {
		return "", err
	}
	const first = 10
	var tmp string
	if plan.KeepTmp {
		if tmp, err = i.driver.tmps().Path(plan.Workspace); err != nil {
			return "", err
		}
	}
	v, err := newInvocation(plan, invocationOptions{tool: i.tool, guest: i.guest, dir: startDir(plan, cmd), tmp: tmp, seccomp: deny.Bytes(), first: first})
	if err != nil {
		return "", err
	}
	words := []string{"env", "-i"}
	for _, kv := range env {
		words = append(words, shellword.Quote(kv))
	}
	words = append(words, shellword.Quote(i.tool.path))
	for _, a := range v.args {
		words = append(words, shellword.Quote(a))
	}
	words = append(words, "--new-session", "--")
	for _, a := range commandLine(cmd, false, nil) {
		words = append(words, shellword.Quote(a))
	}
	for n, data := range v.inputs {
		words = append(words, strconv.Itoa(first+n)+quoteInput(data))
	}
	return strings.Join(words, " "), nil
}

// quoteInput returns a redirection that reads data.
func quoteInput(data []byte) string {
	if len(data) == 0 {
		return "</dev/null"
	}
	var b strings.Builder
	b.WriteString("< <(printf '")
	for _, c := range data {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	b.WriteString("')")
	return b.String()
}

// trace prints a plan.
func (d *Driver) trace(plan *policy.Plan) {
	t := d.options.Trace
	t("plan", fmt.Sprintf("workspace %s, start in %s, network %s", plan.Workspace, plan.Dir, plan.Network.Mode))
	for _, m := range plan.Mounts {
		t("plan", fmt.Sprintf("%-8s %s", m.Access, m.Path))
	}
	for _, g := range plan.Guards {
		t("plan", fmt.Sprintf("%-8s %s/%s", "guard", g.Dir, g.Name))
	}
	for _, r := range plan.Rules {
		if r.IsUnmatched() {
			t("plan", fmt.Sprintf("%-8s %s matches nothing, %s", r.Access, r.Pattern, r.Source))
		}
	}
	for _, x := range plan.Dropped {
		t("env", x.Name+" is left out: "+x.Why)
	}
	for _, c := range plan.Commands {
		t("commands", fmt.Sprintf("%s: %s over %s", c.Name, c.Rule, strings.Join(c.Targets, ", ")))
	}
}

// traceArgs prints bubblewrap's options, one with its values per line.
func (d *Driver) traceArgs(args []string) {
	var line []string
	for _, a := range args {
		if strings.HasPrefix(a, "--") && len(line) > 0 {
			d.options.Trace("bwrap-args", strings.Join(line, " "))
			line = nil
		}
		line = append(line, shellword.Quote(a))
	}
	if len(line) > 0 {
		d.options.Trace("bwrap-args", strings.Join(line, " "))
	}
}
