package connector

import (
	"fmt"
	"slices"
	"strings"
)

// Reasoning says whether, and how much, a model thinks before it answers. The zero value leaves the decision to the
// server.
type Reasoning struct {
	Thinking *Thinking `json:"thinking"`         // of Anthropic's API, and of Chat Completions servers that adopted the option; nil: not set
	Effort   string    `json:"reasoning_effort"` // of OpenAI's APIs, one of Efforts; "": not set
}

// Thinking is the thinking option of Anthropic's API.
type Thinking struct {
	Type         string `json:"type"`          // "enabled", "adaptive" (the model decides) or "disabled"
	BudgetTokens int64  `json:"budget_tokens"` // tokens for thinking, at least MinBudget and fewer than the answer may have; 0: not set
}

// MinBudget is the smallest number of tokens to think for; the API refuses fewer.
const MinBudget = 1024

// Efforts are the efforts of OpenAI's APIs; few models support all of them.
func Efforts() []string { return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"} }

// Or returns r with the fields that it does not set taken from other.
func (r Reasoning) Or(other Reasoning) Reasoning {
	if r.Thinking == nil {
		r.Thinking = other.Thinking
	}
	if r.Effort == "" {
		r.Effort = other.Effort
	}
	return r
}

// HasThinking reports whether r requests thinking with Anthropic's option.
func (r Reasoning) HasThinking() bool { return r.Thinking != nil && r.Thinking.Type != "disabled" }

// Fault checks a Reasoning for a protocol, or for all protocols if that is "". It returns the key, what was found and
// expected, and a hint, which may be empty. An empty key means that r is valid.
func (r Reasoning) Fault(p Protocol) (key, text, hint string) {
	if r.Effort != "" && !slices.Contains(Efforts(), r.Effort) {
		return "reasoning_effort", fmt.Sprintf("found %.40q, expected one of %s", r.Effort, strings.Join(Efforts(), ", ")), ""
	}
	if r.Effort != "" && p == Anthropic {
		return "reasoning_effort", "found it for a connector of type anthropic, whose API has none", `write "thinking": {"type": "enabled", "budget_tokens": 4096}`
	}
	t := r.Thinking
	if t == nil {
		return "", "", ""
	}
	types := []string{"enabled", "adaptive", "disabled"}
	if p == OpenAI {
		types = []string{"enabled", "disabled"}
	}
	switch {
	case p == Responses:
		return "thinking", "found it for a connector of type responses, whose API has none", `write "reasoning_effort": "medium"`
	case !slices.Contains(types, t.Type):
		return "thinking.type", fmt.Sprintf("found %.40q, expected one of %s", t.Type, strings.Join(types, ", ")), ""
	case t.BudgetTokens != 0 && (t.BudgetTokens < MinBudget || t.BudgetTokens > maxTokens):
		return "thinking.budget_tokens", fmt.Sprintf("found %d, expected a whole number from %d to %d", t.BudgetTokens, MinBudget, int64(maxTokens)), ""
	case t.BudgetTokens != 0 && t.Type != "enabled":
		return "thinking.budget_tokens", fmt.Sprintf("found it beside the type %s, which has none", t.Type), ""
	case t.BudgetTokens != 0 && p == OpenAI:
		return "thinking.budget_tokens", "found it for a connector of type openai, whose servers have none", ""
	case t.BudgetTokens == 0 && t.Type == "enabled" && p == Anthropic:
		return "thinking", "found no budget_tokens beside the type enabled, expected how many tokens it may think for", `write "budget_tokens": 4096, or the type adaptive for models that decide themselves`
	}
	return "", "", ""
}
