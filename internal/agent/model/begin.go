package model

import (
	"context"
	"math"
	"net/url"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// begin checks a request and prepares its run. It lists the tools and sends nothing to the model.
func (c *Client) begin(ctx context.Context, req Request) (*run, error) {
	if err := validate(&req); err != nil {
		return nil, err
	}
	req.Reasoning = req.Reasoning.Or(req.Connector.Reasoning)
	system, said, err := convertMessages(req.System, req.Messages)
	if err != nil {
		return nil, err
	}
	tools, err := newToolbox(ctx, req.Tools)
	if err != nil {
		return nil, err
	}
	limit := req.MaxTokens
	if limit <= 0 {
		limit = req.Connector.MaxTokens
	}
	r := &run{c: c, req: req, tools: tools, text: textSize(system, said, tools.functions())}
	switch req.Connector.Protocol {
	case connector.OpenAI:
		r.api = newChat(c, req, system, said, tools.functions(), limit)
	case connector.Responses:
		r.api = newResponse(c, req, system, said, tools.functions(), limit)
	case connector.Anthropic:
		if limit <= 0 {
			limit = maxTokensOf(req.Connector.Model)
		}
		if err := checkThinking(req, limit); err != nil {
			return nil, err
		}
		r.api = newMessages(c, req, system, said, tools.functions(), limit)
	default:
		return nil, invalid("%s: expected the protocol openai, responses or anthropic, got %q", req.Connector.ID, req.Connector.Protocol)
	}
	r.limit = limit
	return r, nil
}

// validate checks all but messages and tools, and fills in defaults.
func validate(req *Request) error {
	c := req.Connector
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return sandbox.Errorf(sandbox.Invalid, "%s: expected the base URL of an API, got %q", c.ID, safeURL(c.BaseURL)).
			WithHint("write it as https://HOST/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return sandbox.Errorf(sandbox.Invalid, "%s: the base URL of %s has a user, a query or a fragment", c.ID, safeURL(c.BaseURL)).
			WithHint("headers and the key have places of their own")
	case c.Model == "":
		return invalid("%s: the connector names no model", c.ID)
	case req.Limits.CostUSD > 0 && c.Price == nil:
		return sandbox.Errorf(sandbox.Invalid, "%s: a limit on cost needs a price, and the connector has none", c.ID).
			WithHint("write price into the connector, or limit tokens")
	case req.Limits.CostUSD < 0 || math.IsNaN(req.Limits.CostUSD) || req.Limits.Tokens < 0:
		return invalid("limits: expected numbers from 0 on")
	case req.TopP != nil && !(*req.TopP >= 0 && *req.TopP <= 1):
		return invalid("top_p: expected a number from 0 to 1, got %g", *req.TopP)
	case req.Temperature != nil && (math.IsNaN(*req.Temperature) || *req.Temperature < 0 || *req.Temperature > 2):
		return invalid("temperature: expected a number from 0 to 2, got %g", *req.Temperature)
	}
	if key, text, hint := req.Reasoning.Or(c.Reasoning).Fault(c.Protocol); key != "" {
		err := sandbox.Errorf(sandbox.Invalid, "%s: options.%s: %s", c.ID, key, text)
		err.Hint = hint
		return err
	}
	if req.MaxTurns <= 0 {
		req.MaxTurns = 20
	}
	return nil
}

// checkThinking checks what Anthropic's API requires of a request with thinking.
func checkThinking(req Request, limit int64) error {
	if !req.Reasoning.HasThinking() {
		return nil
	}
	id, budget := req.Connector.ID, req.Reasoning.Thinking.BudgetTokens
	switch {
	case req.Temperature != nil && *req.Temperature != 1:
		return sandbox.Errorf(sandbox.Invalid, "%s: a model that thinks has no temperature, and %g is asked for", id, *req.Temperature).
			WithHint(`leave it out, or write "thinking": {"type": "disabled"} into the assistant's options`)
	case budget >= limit:
		return sandbox.Errorf(sandbox.Invalid, "%s: thinking for %d tokens needs answers that may have more, and they may have %d", id, budget, limit).
			WithHint("raise max_tokens, or lower budget_tokens")
	}
	return nil
}
