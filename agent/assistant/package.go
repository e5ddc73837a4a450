package assistant

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// document is the package file of an assistant.
type document struct {
	Schema      string          `json:"$schema"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Connector   string          `json:"connector"`
	Sandbox     sandboxDocument `json:"sandbox"`
	MCP         mcpDocument     `json:"mcp"`
	Options     Options         `json:"options"`
	Limits      Limits          `json:"limits"`
}

type sandboxDocument struct {
	Command   string           `json:"command"`
	Backend   string           `json:"backend"`
	Image     string           `json:"image"`
	MaxMemory sandbox.Bytes    `json:"max_memory"`
	MaxCPU    float64          `json:"max_cpu"`
	Timeout   sandbox.Duration `json:"timeout"`
	Arguments jsonc.Value      `json:"arguments"`
	Policy    jsonc.Value      `json:"policy"`
}

type mcpDocument struct {
	Servers []serverChoice `json:"servers"`
}

type serverChoice struct {
	ServerID string   `json:"server_id"`
	Tools    []string `json:"tools"`
}

const (
	maxDescription = 16 << 10
	maxAmount      = 1_000_000 // US dollars
	maxTokens      = 1 << 50
	maxTurns       = 100_000
	maxTimeout     = sandbox.Duration(7 * 24 * time.Hour)
)

// packaged is the result of parsePackage.
type packaged struct {
	checks

	file string
	doc  document
}

// parsePackage reads a package file.
func parsePackage(file string, data []byte) (p *packaged, s *Sandbox) {
	p = &packaged{file: file}
	reader := jsonc.Reader{Expect: expectation}
	top, problem := reader.Parse(file, data)
	if problem != nil {
		p.problems = []jsonc.Problem{*problem}
		return p, nil
	}
	p.top = top
	p.lines, p.problems = reader.Decode(top, &p.doc)
	if !top.IsObject() {
		return p, nil
	}
	p.checkTop()
	p.checkOptions()
	p.checkServers()
	if p.lines["sandbox"] > 0 {
		s = p.sandbox()
	}
	return p, s
}

func (p *packaged) checkTop() {
	for _, t := range []struct{ key, text, expected string }{
		{"name", p.doc.Name, "a name for people"}, {"connector", p.doc.Connector, `a connector such as "deepseek.v3"`},
	} {
		if p.lines[t.key] == 0 {
			p.fail(t.key, "found nothing, expected %s", t.expected)
		}
		p.line(t.key, t.text)
	}
	if p.has("description") && len(p.doc.Description) > maxDescription {
		p.fail("description", "found %d bytes, expected at most %d", len(p.doc.Description), maxDescription)
	}
}

func (p *packaged) checkOptions() {
	o, l := p.doc.Options, p.doc.Limits
	if o.Temperature != nil {
		p.number("options.temperature", *o.Temperature, 0, 2)
	}
	if o.TopP != nil {
		p.number("options.top_p", *o.TopP, 0, 1)
	}
	p.count("options.max_tokens", o.MaxTokens, maxTokens)
	p.choice("options.reasoning_effort", o.Effort, connector.Efforts()...)
	p.reasoning(nil)
	p.count("limits.concurrent_requests", int64(l.ConcurrentRequests), maxTurns)
	p.count("limits.tokens_per_request", l.TokensPerRequest, maxTokens)
	p.count("limits.tokens_per_day", l.TokensPerDay, maxTokens)
	p.count("limits.workspaces", int64(l.Workspaces), maxTurns)
	p.amount("limits.cost_per_request_usd", l.CostPerRequestUSD)
	p.amount("limits.cost_per_day_usd", l.CostPerDayUSD)
}

func (p *packaged) checkServers() {
	servers := p.doc.MCP.Servers
	if len(servers) > MaxServers {
		p.fail("mcp.servers", "found %d, expected at most %d", len(servers), MaxServers)
		p.doc.MCP.Servers = nil
		return
	}
	first := map[string]bool{}
	for i, s := range servers {
		key := jsonc.IndexKey("mcp.servers", i)
		switch {
		case !p.has(key):
		case p.lines[key+".server_id"] == 0:
			p.fail(key, "found no server_id, expected the name of a file in %s/", serversDir)
		case first[s.ServerID]:
			p.fail(key+".server_id", "found %s a second time, expected once", jsonc.Clip(s.ServerID))
		}
		first[s.ServerID] = true
		if s.Tools != nil && len(s.Tools) == 0 {
			p.fail(key+".tools", "found no tool, expected at least one").Hint = "without the key all tools of the server are used"
		}
		p.words(key+".tools", s.Tools)
	}
}

// sandbox converts the sandbox block.
func (p *packaged) sandbox() *Sandbox {
	doc := &p.doc.Sandbox
	s := &Sandbox{Command: Command(doc.Command), Backend: doc.Backend, Image: doc.Image, Timeout: time.Duration(doc.Timeout)}
	if p.lines["sandbox.command"] == 0 {
		p.fail("sandbox.command", "found nothing, expected one of claude, codex, cursor")
	}
	p.choice("sandbox.command", doc.Command, string(Claude), string(Codex), string(Cursor))
	if doc.Backend == "virtual" {
		p.fail("sandbox.backend", "found virtual, in which no program of the host runs, expected one of bwrap, docker, kube")
	}
	p.choice("sandbox.backend", doc.Backend, "bwrap", "docker", "kube")
	switch {
	case !p.has("sandbox.image"):
	case doc.Image == "" || !isPrintableLine(doc.Image) || strings.ContainsAny(doc.Image, " \t") || strings.HasPrefix(doc.Image, "-"):
		p.fail("sandbox.image", "found %s, expected an image such as \"registry.example/agent:1\"", jsonc.Clip(doc.Image))
	case doc.Backend == "bwrap":
		p.fail("sandbox.image", "found an image, which bwrap has none of").Hint = `leave it out, or write "backend": "docker"`
	}
	p.number("sandbox.max_cpu", doc.MaxCPU, policy.MinCPU, policy.MaxCPU)
	if doc.Timeout > maxTimeout {
		p.fail("sandbox.timeout", "found %s, expected at most %s", doc.Timeout, maxTimeout)
	}
	s.Layer = p.layer()
	p.arguments(s)
	for _, key := range []string{"options.temperature", "options.top_p", "options.thinking", "options.reasoning_effort"} {
		if p.lines[key] > 0 && p.lines["sandbox"] > 0 {
			p.fail(key, "found beside a sandbox, whose coding agent chooses it, expected none")
		}
	}
	return s
}

// layer converts the policy of the sandbox block.
func (p *packaged) layer() sandbox.Layer {
	doc := &p.doc.Sandbox
	l := sandbox.Layer{Name: "assistant", File: p.file, Lines: map[string]int{}}
	if doc.Policy.IsPresent() {
		content, lines, err := policy.Decode(p.file, doc.Policy.Alone())
		if err != nil {
			problem := convertError(p.file, err)
			problem.Key = jsonc.JoinKey("sandbox.policy", problem.Key)
			p.problems = append(p.problems, problem)
		}
		if content.Backend != "" {
			p.fail("sandbox.policy", "found a backend in it, expected it as sandbox.backend")
		}
		l.Policy = content
		maps.Copy(l.Lines, lines)
	}
	for _, limit := range []struct{ mine, key string }{{"max_memory", "limits.memory"}, {"max_cpu", "limits.cpu"}} {
		line := p.lines["sandbox."+limit.mine]
		switch {
		case line == 0:
		case l.Lines[limit.key] > 0:
			p.fail("sandbox."+limit.mine, "found policy.%s beside it, expected one of them", limit.key)
		case limit.mine == "max_memory":
			l.Policy.Limits.Memory, l.Lines[limit.key] = doc.MaxMemory, line
		default:
			l.Policy.Limits.CPU, l.Lines[limit.key] = doc.MaxCPU, line
		}
	}
	return l
}

// arguments decodes the arguments of the coding agent.
func (p *packaged) arguments(s *Sandbox) {
	v := p.doc.Sandbox.Arguments
	if !v.IsPresent() {
		return
	}
	c := &checks{top: v, prefix: "sandbox.arguments"}
	reader := jsonc.Reader{Expect: expectation}
	switch s.Command {
	case Claude:
		c.lines, c.problems = reader.Decode(v, &s.Claude)
		c.claude(&s.Claude)
	case Codex:
		c.lines, c.problems = reader.Decode(v, &s.Codex)
		c.choice("effort", s.Codex.Effort, "minimal", "low", "medium", "high", "xhigh")
		c.choice("summary", s.Codex.Summary, "auto", "concise", "detailed", "none")
		c.choice("verbosity", s.Codex.Verbosity, "low", "medium", "high")
		c.prompt(s.Codex.AppendSystemPrompt)
	case Cursor:
		c.lines, c.problems = reader.Decode(v, &s.Cursor)
		c.choice("mode", s.Cursor.Mode, "agent", "plan", "ask")
	}
	p.problems = append(p.problems, c.problems...)
}

func (c *checks) claude(a *ClaudeArguments) {
	c.count("max_turns", int64(a.MaxTurns), maxTurns)
	c.choice("permission_mode", a.PermissionMode, "default", "acceptEdits", "dontAsk", "plan", "bypassPermissions")
	c.words("tools", a.Tools)
	c.words("allowed_tools", a.AllowedTools)
	c.words("disallowed_tools", a.DisallowedTools)
	c.amount("max_budget_usd", a.MaxBudgetUSD)
	c.choice("effort", a.Effort, "low", "medium", "high", "xhigh", "max")
	c.prompt(a.AppendSystemPrompt)
}

func (c *checks) prompt(text string) {
	const key = "append_system_prompt"
	if c.has(key) && (strings.TrimSpace(text) == "" || len(text) > MaxPrompts || strings.ContainsRune(text, 0)) {
		c.fail(key, "found no text, or more than %s, expected a prompt", sandbox.Bytes(MaxPrompts))
	}
}

// chosen returns the servers that the package selects from the existing ones.
func (p *packaged) chosen(there map[string]tool.Server, dir string) []tool.Server {
	var ids []string
	for id := range there {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var out []tool.Server
	for i, choice := range p.doc.MCP.Servers {
		key := jsonc.IndexKey("mcp.servers", i) + ".server_id"
		s, ok := there[choice.ServerID]
		switch {
		case p.lines[key] == 0:
		case !ok:
			problem := p.fail(key, "found no server %s, expected %s", jsonc.Clip(choice.ServerID), formatNames(ids, "one in "+jsonc.OneLine(dir)))
			if near := jsonc.Nearest(choice.ServerID, ids); near != "" {
				problem.Hint = `did you mean "` + near + `"?`
			}
		default:
			s.Tools = choice.Tools
			out = append(out, s)
		}
	}
	return out
}

// reasoning checks the reasoning options, for the connector c if that is not nil.
func (p *packaged) reasoning(c *connector.Connector) {
	var protocol connector.Protocol
	if c != nil {
		protocol = c.Protocol
	}
	if slices.ContainsFunc(p.problems, func(told jsonc.Problem) bool {
		return strings.HasPrefix(told.Key, "options.thinking") || told.Key == "options.reasoning_effort"
	}) {
		return
	}
	if key, text, hint := p.doc.Options.Reasoning().Fault(protocol); key != "" {
		p.fail("options."+key, "%s", text).Hint = hint
	}
}

// connector looks up the connector of the assistant.
func (p *packaged) connector(c *places, sums map[string]string) *connector.Connector {
	id := p.doc.Connector
	if !p.has("connector") {
		return nil
	}
	if c.byID[id] == "" {
		err := c.notFound(id)
		p.fail("connector", "%s", err.Err).Hint = err.Hint
		return nil
	}
	found, problems := c.parse(id, sums)
	switch {
	case c.failed[id]:
		p.fail("connector", "found two files of the connector %s, expected one", id)
	case len(problems) > 0:
		p.fail("connector", "found a connector that is not valid: %s", problems[0]).Hint = problems[0].Hint
	}
	return found
}
