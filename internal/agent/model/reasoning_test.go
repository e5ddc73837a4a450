package model_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/model"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func thinking(kind string, budget int64) connector.Reasoning {
	return connector.Reasoning{Thinking: &connector.Thinking{Type: kind, BudgetTokens: budget}}
}

func effort(e string) connector.Reasoning { return connector.Reasoning{Effort: e} }

func Test_Reasoning_Options_Use_The_Form_Of_Each_API(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		protocol     connector.Protocol
		connector    connector.Reasoning
		request      connector.Reasoning
		want, absent string
	}{
		{"nothing is said", connector.Anthropic, connector.Reasoning{}, connector.Reasoning{}, "", "thinking"},
		{"a budget of the connector", connector.Anthropic, thinking("enabled", 2048), connector.Reasoning{}, `"thinking":{"budget_tokens":2048,"type":"enabled"}`, ""},
		{"a budget of the request", connector.Anthropic, thinking("enabled", 2048), thinking("enabled", 4096), `"thinking":{"budget_tokens":4096,"type":"enabled"}`, ""},
		{"the model decides", connector.Anthropic, connector.Reasoning{}, thinking("adaptive", 0), `"thinking":{"display":"summarized","type":"adaptive"}`, ""},
		{"the request wants none", connector.Anthropic, thinking("enabled", 2048), thinking("disabled", 0), `"thinking":{"type":"disabled"}`, "budget"},
		{"an effort of Chat Completions", connector.OpenAI, effort("low"), effort("high"), `"reasoning_effort":"high"`, "thinking"},
		{"no word of effort", connector.OpenAI, connector.Reasoning{}, connector.Reasoning{}, "", "reasoning"},
		{"thinking of servers that are compatible", connector.OpenAI, thinking("enabled", 0), connector.Reasoning{}, `"thinking":{"type":"enabled"}`, "budget"},
		{"an effort of Responses", connector.Responses, effort("low"), connector.Reasoning{}, `"reasoning":{"effort":"low","summary":"auto"}`, ""},
		{"what Responses keeps goes back", connector.Responses, effort("low"), connector.Reasoning{}, `"include":["reasoning.encrypted_content"]`, ""},
		{"no effort of Responses", connector.Responses, effort("none"), connector.Reasoning{}, `"reasoning":{"effort":"none"}`, "encrypted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, protocols[c.protocol])
			req := hello(s.connector(c.protocol))
			req.Connector.Reasoning, req.Reasoning = c.connector, c.request
			if _, r := run(t.Context(), t, client(t, model.Options{}), req); !r.OK() {
				t.Fatalf("%+v", r)
			}
			if got := s.body(t, 0); !strings.Contains(got, c.want) || c.absent != "" && strings.Contains(got, c.absent) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func Test_Thinking_Is_Reported_And_Sent_Back_Apart_From_The_Answer(t *testing.T) {
	t.Parallel()
	for p, reasoning := range map[connector.Protocol]connector.Reasoning{
		connector.Anthropic: thinking("enabled", 1024), connector.OpenAI: effort("high"), connector.Responses: effort("high"),
	} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			s := serve(t, stream(uses[p]...), protocols[p])
			req := hello(s.connector(p))
			req.Reasoning, req.Tools = reasoning, functions{"s__add": arithmetic["s__add"]}
			events, r := run(t.Context(), t, client(t, model.Options{}), req)
			deltas, whole := "", ""
			for _, e := range events {
				if e.Kind == event.ThinkingDelta {
					deltas += e.Text
				}
				if e.Kind == event.Thinking {
					whole += e.Text
				}
			}
			if deltas != "They want sums." || whole != deltas || !r.OK() || r.Content != "Hello" {
				t.Errorf("%q, %q, %+v", deltas, whole, r)
			}
			back := map[connector.Protocol]string{
				connector.Anthropic: `[{"signature":"signed","thinking":"They want sums.","type":"thinking"},{"data":"opaque","type":"redacted_thinking"},`,
				connector.OpenAI:    `"reasoning_content":"They want sums."`, connector.Responses: `{"encrypted_content":"opaque"`,
			}[p]
			if got := s.body(t, 1); !strings.Contains(got, back) {
				t.Errorf("it does not go back: %s", got)
			}
		})
	}
}

func Test_Invalid_Thinking_Is_Refused_Before_The_Request(t *testing.T) {
	t.Parallel()
	warm := 0.5
	for _, c := range []struct {
		name     string
		protocol connector.Protocol
		change   func(*model.Request)
		want     string
	}{
		{"an effort for Anthropic", connector.Anthropic, func(r *model.Request) { r.Reasoning = effort("high") }, "options.reasoning_effort: found it for a connector of type anthropic"},
		{"an unknown effort", connector.OpenAI, func(r *model.Request) { r.Reasoning = effort("huge") }, `found "huge", expected one of none, minimal`},
		{"a budget for Responses", connector.Responses, func(r *model.Request) { r.Reasoning = thinking("enabled", 1024) }, "options.thinking: found it for a connector of type responses"},
		{"a budget for Chat Completions", connector.OpenAI, func(r *model.Request) { r.Reasoning = thinking("enabled", 1024) }, "options.thinking.budget_tokens: found it for a connector of type openai"},
		{"no budget", connector.Anthropic, func(r *model.Request) { r.Reasoning = thinking("enabled", 0) }, "found no budget_tokens"},
		{"a budget that is too small", connector.Anthropic, func(r *model.Request) { r.Reasoning = thinking("enabled", 1023) }, "found 1023, expected a whole number from 1024"},
		{"a budget that nothing is left of", connector.Anthropic, func(r *model.Request) { r.Reasoning, r.MaxTokens = thinking("enabled", 2000), 2000 }, "thinking for 2000 tokens needs answers that may have more, and they may have 2000"},
		{"a temperature", connector.Anthropic, func(r *model.Request) { r.Reasoning, r.Temperature = thinking("enabled", 1024), &warm }, "a model that thinks has no temperature, and 0.5 is asked for"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, protocols[c.protocol])
			req := hello(s.connector(c.protocol))
			c.change(&req)
			for _, err := range client(t, model.Options{}).Stream(t.Context(), req) {
				if sandbox.CodeOf(err) != sandbox.Invalid || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v", err)
				}
			}
			if s.asked() > 0 {
				t.Error("the server was asked")
			}
		})
	}
}

func Test_A_Server_Without_Summaries_Is_Asked_Again_Without_Them(t *testing.T) {
	t.Parallel()
	for p, c := range map[connector.Protocol]struct {
		reasoning     connector.Reasoning
		says, without string
	}{
		connector.Responses: {effort("low"), "Your organization must be verified to generate reasoning summaries.", `"reasoning":{"effort":"low"}`},
		connector.Anthropic: {thinking("adaptive", 0), "thinking.adaptive.display: Extra inputs are not permitted", `"thinking":{"type":"adaptive"}`},
	} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			s := serve(t, status(http.StatusBadRequest, `{"error":{"type":"invalid_request_error","message":"`+c.says+`"}}`), protocols[p])
			req := hello(s.connector(p))
			req.Reasoning = c.reasoning
			if _, r := run(t.Context(), t, client(t, model.Options{}), req); !r.OK() || s.asked() != 2 {
				t.Fatalf("%d, %+v", s.asked(), r)
			}
			if got := s.body(t, 1); !strings.Contains(got, c.without) {
				t.Errorf("%s", got)
			}
		})
	}
}

func Test_Top_P_Is_Sent_To_The_Server(t *testing.T) {
	t.Parallel()
	top := 0.25
	for p := range protocols {
		s := serve(t, protocols[p])
		req := hello(s.connector(p))
		req.TopP = &top
		if _, r := run(t.Context(), t, client(t, model.Options{}), req); !r.OK() || !strings.Contains(s.body(t, 0), `"top_p":0.25`) {
			t.Errorf("%s: %+v %s", p, r, s.body(t, 0))
		}
	}
	top = 1.5
	req := hello(serve(t, chatHello).connector(connector.OpenAI))
	req.TopP = &top
	for _, err := range client(t, model.Options{}).Stream(t.Context(), req) {
		if sandbox.CodeOf(err) != sandbox.Invalid {
			t.Error(err)
		}
	}
}
