// Package assistant reads assistants and connectors, which are directories and files below one root:
//
//	assistants/coder/package.yao      the definition: see schema/assistant.json (or package.jsonc, package.json)
//	assistants/coder/prompts.yml      the system prompts
//	assistants/coder/prompts/A/B.yml  the preset A.B, which a Create hook may select instead
//	assistants/coder/mcps/ID.mcp.yao  its MCP servers (or .mcp.jsonc, .mcp.json)
//	assistants/coder/skills/          its skills
//	assistants/coder/src/index.ts     its hooks (or index.js)
//	connectors/deepseek/v3.conn.yao   the connector deepseek.v3 (or .conn.jsonc, .conn.json)
//
// A root may come with a repository that the user has not read, so all of it is hostile input: sizes, depths and counts are
// bounded, only regular files are read, and symbolic links that leave the root are not followed. An assistant may run
// programs on this host only when the user trusts its exact content; see [Assistant.CheckTrust].
package assistant

import (
	"path/filepath"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/agent/skill"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Assistant is the content of the files of an assistant. It is not changed after it was loaded, and its methods are safe for
// concurrent use.
type Assistant struct {
	Name        string                       // of its directory
	Label       string                       // for people
	Description string                       // for people; may be empty
	Dir         string                       // absolute
	File        string                       // absolute path of its package file, by which it is trusted
	Connector   *connector.Connector         // the model
	Prompts     []message.Message            // before every chat; may be empty
	Presets     map[string][]message.Message // alternative prompts by name, which a Create hook may select; see [Assistant.Preset]
	Options     Options                      // of a direct call
	Limits      Limits                       //
	Sandbox     *Sandbox                     // where a coding agent runs; nil: the model is called directly
	Servers     []tool.Server                // those that the package names, in its order
	Skills      *skill.Catalog               // never nil
	Hooks       string                       // slash-separated path of the script below Dir; "": none

	root    *Root
	sums    map[string]string // of the files that were read, in hex; see Content
	content []byte            // see Content; nil: it is the user's own configuration, or it could not be read
	trusted bool
}

// Options are sent with a direct call to a model. A nil pointer leaves the choice to the server.
type Options struct {
	Temperature *float64            `json:"temperature"`      // 0 to 2
	TopP        *float64            `json:"top_p"`            // 0 to 1
	MaxTokens   int64               `json:"max_tokens"`       // of an answer; 0: the connector's
	Thinking    *connector.Thinking `json:"thinking"`         // nil: the connector's
	Effort      string              `json:"reasoning_effort"` // "": the connector's
}

// Reasoning returns the options about reasoning.
func (o Options) Reasoning() connector.Reasoning {
	return connector.Reasoning{Thinking: o.Thinking, Effort: o.Effort}
}

// Limits bound one user's use of an assistant. 0 means no limit, except for Workspaces.
type Limits struct {
	ConcurrentRequests int     `json:"concurrent_requests"`  // of a user
	TokensPerRequest   int64   `json:"tokens_per_request"`   // of all kinds together
	CostPerRequestUSD  float64 `json:"cost_per_request_usd"` //
	TokensPerDay       int64   `json:"tokens_per_day"`       // of a user, of all kinds together
	CostPerDayUSD      float64 `json:"cost_per_day_usd"`     // of a user
	Workspaces         int     `json:"workspaces"`           // of a user, of all assistants together, above which this one makes no new one; 0: the pipeline's default
}

// Command is a coding agent.
type Command string

// The coding agents.
const (
	Claude Command = "claude" // Claude Code
	Codex  Command = "codex"
	Cursor Command = "cursor"
)

// Sandbox selects the coding agent, and the sandbox in which it runs.
type Sandbox struct {
	Command Command
	Backend string        // "bwrap", "docker" or "kube"; "": the caller's choice
	Image   string        // of a container or pod; "": the caller's choice
	Timeout time.Duration // of a run; 0: the caller's choice
	Claude  ClaudeArguments
	Codex   CodexArguments
	Cursor  CursorArguments
	// Layer is the policy of the package with max_memory and max_cpu in its limits. Its name is "assistant", and unless
	// the user trusts the assistant, it may only tighten.
	Layer sandbox.Layer
}

// ClaudeArguments are the settings of Claude Code. Zero values leave the choice to the caller.
type ClaudeArguments struct {
	MaxTurns           int      `json:"max_turns"`            // how often the model is asked
	PermissionMode     string   `json:"permission_mode"`      // "default", "acceptEdits", "dontAsk", "plan" or "bypassPermissions"
	Tools              []string `json:"tools"`                // the available built-in tools; nil: all, empty: none
	AllowedTools       []string `json:"allowed_tools"`        // allowed without a question, such as "Bash(npm test:*)"
	DisallowedTools    []string `json:"disallowed_tools"`     // forbidden tools
	MaxBudgetUSD       float64  `json:"max_budget_usd"`       // for a run
	Effort             string   `json:"effort"`               // "low", "medium", "high", "xhigh" or "max"
	AppendSystemPrompt string   `json:"append_system_prompt"` // after Claude Code's own and the assistant's
}

// CodexArguments are the settings of Codex. Zero values leave the choice to the caller.
type CodexArguments struct {
	Effort             string `json:"effort"`               // of reasoning: "minimal", "low", "medium", "high" or "xhigh"
	Summary            string `json:"summary"`              // of reasoning: "auto", "concise", "detailed" or "none"
	Verbosity          string `json:"verbosity"`            // "low", "medium" or "high"
	AppendSystemPrompt string `json:"append_system_prompt"` // after Codex's own and the assistant's
}

// CursorArguments are the settings of Cursor's CLI. Zero values leave the choice to the caller.
type CursorArguments struct {
	Force *bool  `json:"force"` // run commands without a question
	Mode  string `json:"mode"`  // "agent", "plan" or "ask"
}

// SkillsDir returns the absolute path of the skills directory, which may be missing.
func (a *Assistant) SkillsDir() string { return filepath.Join(a.Dir, skillsDir) }

const (
	assistantsDir = "assistants"
	connectorsDir = "connectors"
	serversDir    = "mcps"
	skillsDir     = "skills"
	presetsDir    = "prompts"
	sourceDir     = "src"
)
