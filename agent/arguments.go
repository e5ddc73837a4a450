package agent

import "github.com/seed434b0696/agent-sandbox/agent/assistant"

// collectArguments returns the settings of the sandbox block, under the names that the executors use.
func collectArguments(s *assistant.Sandbox) map[string]any {
	out := map[string]any{}
	text := func(name, value string) {
		if value != "" {
			out[name] = value
		}
	}
	words := func(name string, value []string) {
		if value != nil {
			out[name] = value
		}
	}
	switch s.Command {
	case assistant.Claude:
		c := s.Claude
		if c.MaxTurns > 0 {
			out["max_turns"] = c.MaxTurns
		}
		if c.MaxBudgetUSD > 0 {
			out["max_budget_usd"] = c.MaxBudgetUSD
		}
		text("permission_mode", c.PermissionMode)
		text("effort", c.Effort)
		words("tools", c.Tools)
		words("allowed_tools", c.AllowedTools)
		words("disallowed_tools", c.DisallowedTools)
	case assistant.Codex:
		text("effort", s.Codex.Effort)
		text("summary", s.Codex.Summary)
		text("verbosity", s.Codex.Verbosity)
	case assistant.Cursor:
		text("mode", s.Cursor.Mode)
		if s.Cursor.Force != nil {
			out["force"] = *s.Cursor.Force
		}
	}
	return out
}

// appendedPrompt returns the text that the sandbox block adds to the prompts.
func appendedPrompt(s *assistant.Sandbox) string {
	switch s.Command {
	case assistant.Claude:
		return s.Claude.AppendSystemPrompt
	case assistant.Codex:
		return s.Codex.AppendSystemPrompt
	case assistant.Cursor:
	}
	return ""
}
