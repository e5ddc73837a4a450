//go:build agent

package assistants

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// agentPrinter prints the events of a run for people. Its own lines begin at the margin. The agent's text is escaped, and
// indented so that it cannot imitate those lines.
type agentPrinter struct {
	out      io.Writer
	thinking bool
	verbose  bool
	within   bool // a line of the agent is open
	inputs   map[string]string
}

// maxShown limits the number of remembered tool calls that have not ended.
const maxShown = 10_000

func (p *agentPrinter) print(e event.Event) {
	switch e.Kind {
	case event.SessionStarted:
		p.line("session", e.Session.Executor+" "+e.Session.Version, e.Session.Model, e.Session.ID)
		for _, s := range e.Session.Servers {
			if s.Status != "connected" {
				p.line("mcp server", s.Name, s.Status)
			}
		}
	case event.Text, event.TextDelta:
		p.text(e)
	case event.Thinking, event.ThinkingDelta:
		if p.thinking {
			p.text(e)
		}
	case event.ToolStarted:
		if p.inputs == nil || len(p.inputs) >= maxShown {
			p.inputs = map[string]string{}
		}
		p.inputs[shortenLine(e.Tool.ID)] = summarizeInput(e.Tool.Input)
	case event.ToolFinished:
		p.tool(e.Tool)
	case event.PermissionDenied:
		p.line("denied", e.Denial.Tool, summarizeInput(e.Denial.Input), e.Denial.Reason)
	case event.RetryScheduled:
		r := e.Retry
		p.line("retry", fmt.Sprintf("%d of %d in %s", r.Attempt, r.Max, formatMillis(r.DelayMS)), r.Error)
	case event.HookRan:
		if e.Hook.Finished {
			p.line("hook", e.Hook.Name, e.Hook.Outcome)
		}
	case event.NoticeGiven:
		p.notice(e.Notice)
	case event.MessageShown:
		p.shown(e.Shown)
	case event.ResultGiven, event.UsageReported, event.ControlSent, event.ProcessExited, event.ResponseFolded:
	}
}

func (p *agentPrinter) notice(n *event.Notice) {
	switch n.Kind {
	case event.NoticeStatus:
		if n.Text != "" && n.Text != "requesting" && n.Name != "diagnostic" { // diagnostics are for the agent's developers
			p.line("status", n.Name, n.Text)
		}
	case event.NoticePlan, event.NoticeUser:
		p.line(n.Kind)
		p.text(event.Event{Kind: event.Text, Text: n.Text})
	case event.NoticeError:
		p.line("error", n.Text)
	case event.NoticeStep:
		if p.verbose || n.Name == "warn" || n.Name == "error" {
			p.line("step", shortenLine(n.Text))
		}
	case event.NoticeLog:
		if p.verbose || n.Name == "warn" || n.Name == "error" {
			p.line("hook", n.Name, shortenLine(n.Text))
		}
	case event.NoticeTooLong:
		p.line("left out", n.Text)
	case event.NoticeGarbage, event.NoticeMalformed:
		p.line("not understood", shortenLine(n.Text))
	case event.NoticeUnknown: // counted elsewhere
	}
}

// shown prints a hook's message: text is indented like the agent's, other types are summarized.
func (p *agentPrinter) shown(m *event.Shown) {
	var props struct{ Content, Message string }
	if m.Op == "end" || json.Unmarshal(m.Props, &props) != nil {
		return
	}
	if m.Type == "text" {
		p.text(event.Event{Kind: event.Text, Text: props.Content})
		return
	}
	p.line("hook", shortenLine(m.Type), shortenLine(props.Message))
}

// text prints the agent's text with each line indented.
func (p *agentPrinter) text(e event.Event) {
	whole := e.Kind == event.Text || e.Kind == event.Thinking
	if whole {
		p.end()
	}
	if e.Streamed {
		return
	}
	indent := "  "
	if e.Parent != "" {
		indent = "    | "
	}
	for i, part := range strings.Split(e.Text, "\n") {
		if i > 0 {
			fmt.Fprintln(p.out)
			p.within = false
		}
		if part == "" {
			continue
		}
		if !p.within {
			fmt.Fprint(p.out, indent)
			p.within = true
		}
		fmt.Fprint(p.out, console.Escape(strings.ReplaceAll(part, "\t", "    ")))
	}
	if whole {
		p.end()
	}
}

// end ends an open line of the agent.
func (p *agentPrinter) end() {
	if p.within {
		fmt.Fprintln(p.out)
		p.within = false
	}
}

// line prints one line of the printer's own: its subject and details.
func (p *agentPrinter) line(subject string, parts ...string) {
	p.end()
	var known []string
	for _, s := range parts {
		if s = strings.TrimSpace(s); s != "" {
			known = append(known, console.Escape(s))
		}
	}
	fmt.Fprintln(p.out, strings.TrimSpace(subject+": "+strings.Join(known, ", ")))
}

// tool prints a finished tool call.
func (p *agentPrinter) tool(t *event.Tool) {
	input := p.inputs[shortenLine(t.ID)]
	delete(p.inputs, shortenLine(t.ID))
	end := "ok"
	switch {
	case t.ExitCode != nil && *t.ExitCode != 0:
		end = fmt.Sprintf("exit status %d", *t.ExitCode)
	case t.Failed:
		end = "failed"
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(t.Output), "\n"); t.Failed && first != "" {
		end += ": " + shortenLine(first)
	}
	name := t.Name
	if name == "" {
		name = shortenLine(t.ID)
	}
	p.line("tool", strings.TrimSpace(name+" "+input), end)
}

// summaryKeys lists the members of an input that describe it best.
var summaryKeys = []string{"command", "file_path", "notebook_path", "path", "pattern", "query", "url", "description"}

// summarizeInput returns the most descriptive member of a tool's input, or else all of it, on one line.
func summarizeInput(input json.RawMessage) string {
	var members map[string]json.RawMessage
	if len(input) < 1<<20 && json.Unmarshal(input, &members) == nil {
		for _, name := range summaryKeys {
			var s string
			if json.Unmarshal(members[name], &s) == nil && s != "" {
				return shortenLine(s)
			}
		}
	}
	return shortenLine(string(input))
}

// shortenLine shortens a line.
func shortenLine(s string) string {
	const most = 160
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

func formatMillis(n int64) string {
	return time.Duration(min(n, int64(time.Hour/time.Millisecond)*1e6) * int64(time.Millisecond)).Round(10 * time.Millisecond).String()
}

// finish prints the result of a run.
func (p *agentPrinter) finish(r event.Response) {
	p.end()
	for _, name := range r.Files {
		p.line("file", name)
	}
	var facts []string
	if r.Turns > 0 {
		facts = append(facts, console.Count(r.Turns, "turn"))
	}
	facts = append(facts, console.Count(r.Tools, "tool use"))
	if r.DurationMS > 0 {
		facts = append(facts, formatMillis(r.DurationMS))
	}
	if r.CostUSD != nil {
		facts = append(facts, fmt.Sprintf("$%.4f", *r.CostUSD))
	}
	if n := int64(len(p.inputs)); n > 0 {
		facts = append(facts, console.Count(n, "tool use")+" not finished")
	}
	if n := len(r.Denials); n > 0 {
		facts = append(facts, fmt.Sprintf("%d denied", n))
	}
	if n := r.Garbage + r.Unknown; n > 0 {
		facts = append(facts, console.Count(n, "line")+" not understood")
	}
	u := r.Usage
	tokens := fmt.Sprintf("%d in, %d read from cache, %d written to cache, %d out", u.Input, u.CacheRead, u.CacheWrite, u.Output)
	if r.Estimated {
		tokens = "at least " + tokens
	}
	p.line("tokens", tokens)
	if r.OK() {
		p.line("success", facts...)
		return
	}
	p.line("failed", append([]string{strings.ReplaceAll(string(r.Outcome), "_", " ") + ": " + shortenLine(r.Error)}, facts...)...)
}
